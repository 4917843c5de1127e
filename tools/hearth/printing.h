// The program's output: errors and warnings to standard error, text and JSON to standard output or a file.
#ifndef HEARTH_TOOLS_HEARTH_PRINTING_H_
#define HEARTH_TOOLS_HEARTH_PRINTING_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hearth/status.h"

namespace CLI {
class App;
}

namespace hearth {

using Json = nlohmann::ordered_json;

// Call first, while no sink is set: verbs print warnings; HEARTH_LOG=info or debug acts like --log.
void LogAsTheEnvironmentSays();

// Unchanged, after pending standard output. A closed stream is no error.
void WriteToStandardError(std::string_view text);

// "hearth: error: <message>", on one line.
void PrintError(std::string_view message);

// A bar on standard error if that is a terminal, over the previous one; it disappears when `done` is `total`.
void DrawProgress(size_t done, size_t total, std::string_view what);

// --json, --quiet and --log, which every verb has.
class OutputOptions {
 public:
  void AddOptions(CLI::App& app);

  // Text for people, unless `--json -` uses standard output.
  void PrintText(std::string_view text) const;
  // "hearth: warning: <message>" unless --quiet.
  void PrintWarning(std::string_view message) const;
  // DrawProgress unless --quiet.
  void ShowProgress(size_t done, size_t total, std::string_view what) const;
  // Whether WriteJson will be able to write, checked before the work. kIoError.
  Status CheckJson() const;
  bool has_json() const { return !json_path_.empty(); }
  const std::string& json_path() const { return json_path_; }
  // Writes the data as JSON if --json asked for it; `interrupted` is true after ^C.
  Status WriteJson(Json json) const;

 private:
  std::string json_path_;
  bool quiet_ = false;
};

// Rows of cells as aligned columns, two blanks between them.
class TextTable {
 public:
  // The columns' names, with '>' before those of columns that are aligned to the right. A column without a name has no
  // heading; a table without any named column has no heading line.
  explicit TextTable(std::vector<std::string> columns) : columns_(std::move(columns)) {}

  // Precondition: as many cells as columns.
  void AddRow(std::vector<std::string> cells);
  std::string ToString() const;

 private:
  std::vector<std::string> columns_;
  std::vector<std::vector<std::string>> rows_;
};

std::string BytesText(uint64_t bytes);              // "512 B", "4.6 MiB"
std::string MillisecondsText(double milliseconds);  // "12.345"

// ^C in long verbs: they stop between two pieces of work, keep finished ones and exit with 130. From CatchInterrupts on
// the first ^C only sets a flag; a second one ends the program as usual.
void CatchInterrupts();
bool IsInterrupted();

}  // namespace hearth

#endif  // HEARTH_TOOLS_HEARTH_PRINTING_H_
