// A verb of the program: `hearth run`, `hearth cache`, ...
//
// main.cc holds the list of verbs, makes each one, lets it add its options to its own subcommand, parses the
// command line, and calls Run of the verb that was named.
#ifndef HEARTH_TOOLS_HEARTH_VERB_H_
#define HEARTH_TOOLS_HEARTH_VERB_H_

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

#include "hearth/status.h"
#include "tools/hearth/printing.h"

namespace hearth {

// The program's exit codes.
enum class ExitCode : int {
  kFine = 0,
  kFailed = 1,    // the work failed, or a check found a problem
  kUsage = 2,     // wrong command line
  kBadInput = 3,  // missing or malformed model, image or array; wrong name or shape; an op that nothing can run
  kDeviceUnavailable = 4,  // the requested device is not usable
  kInterrupted = 130,      // stopped by ^C; finished parts are written
};

inline ExitCode ExitCodeOf(StatusCode code) {
  switch (code) {
    case StatusCode::kOk: return ExitCode::kFine;
    case StatusCode::kInvalidArgument:
    case StatusCode::kMalformedInput:
    case StatusCode::kNotFound:
    case StatusCode::kUnsupported: return ExitCode::kBadInput;
    case StatusCode::kUnavailable: return ExitCode::kDeviceUnavailable;
    case StatusCode::kResourceExhausted:
    case StatusCode::kDeviceLost:
    case StatusCode::kIoError:
    case StatusCode::kInternal: return ExitCode::kFailed;
  }
  return ExitCode::kFailed;
}

// The texts about a verb in `--help`.
struct VerbInfo {
  std::string name;         // "run"
  std::string description;  // one line
  std::string example;      // a command line that works
};

class Verb {
 public:
  explicit Verb(VerbInfo info) : info_(std::move(info)) {}
  virtual ~Verb() = default;
  const VerbInfo& info() const { return info_; }

  // Declares options and arguments, bound to members of the verb. Called once, before the command line is parsed.
  virtual void AddOptions(CLI::App& app) = 0;

  // Does the work: writes data to standard output, warnings by PrintWarning. main prints an error and converts it by
  // ExitCodeOf. A verb returns kFailed or kUsage itself.
  virtual Result<ExitCode> Run() = 0;

 private:
  VerbInfo info_;
};

// ---- What several verbs need ----

// Asks before something is deleted. kFine: go on. `is_confirmed`: confirmed on the command line, which is required
// without a terminal.
ExitCode ConfirmDeletion(const std::string& what, bool is_confirmed, const OutputOptions& output);

// Checks of option values, whose failure is wrong usage: by a function that has no other use for the value yet.
CLI::Validator Passes(std::function<Status(std::string_view text)> check);
// A number must be neither NaN, which CLI::Range accepts, nor infinite.
std::string WhyNotFinite(const std::string& text);
// An unsigned 64-bit integer: CLI11 turns negative and larger numbers into the largest one.
std::string WhyNoWholeNumber(const std::string& text);

// A number within limits, NaN excluded; the help shows its default.
template <typename Number>
CLI::Option* AddNumber(CLI::App& app, const std::string& name, Number& number, const std::string& unit,
                       std::type_identity_t<Number> least, std::type_identity_t<Number> most, const std::string& help) {
  CLI::Option* option = app.add_option(name, number, help)->type_name(unit)->check(CLI::Range(least, most));
  if (std::is_floating_point_v<Number>) option->check(WhyNotFinite);
  return option->capture_default_str();
}

// ---- The verbs ----

// One function per <name>_command.cc.
using VerbMaker = std::unique_ptr<Verb>();
VerbMaker MakeBenchCommand, MakeCacheCommand, MakeCompareCommand, MakeCompletionCommand, MakeConformanceCommand,
    MakeDevicesCommand, MakeDiagnoseCommand, MakeEmitCommand, MakeInspectCommand, MakeManualCommand, MakeRunCommand;

}  // namespace hearth

#endif  // HEARTH_TOOLS_HEARTH_VERB_H_
