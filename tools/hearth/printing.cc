#include "tools/hearth/printing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/base/text.h"
#include "hearth/log.h"
#include "tools/hearth/files.h"

namespace hearth {
namespace {

volatile std::sig_atomic_t interrupted = 0;

void OnInterrupt(int) {
  interrupted = 1;
}

// On one line, whatever names the model file has and however long they are.
std::string OneLine(std::string_view message) {
  constexpr size_t kMostBytes = 4096, kEndBytes = 1024;
  if (message.size() <= kMostBytes) return Printable(message, ' ');
  return fmt::format("{} [{} bytes left out] {}", Printable(message.substr(0, kMostBytes - kEndBytes), ' '),
                     message.size() - kMostBytes, Printable(message.substr(message.size() - kEndBytes), ' '));
}

// Prints no warnings: the verbs print those of the report.
void LogToStandardError(bool with_details) {
  SetLogSink([with_details](LogLevel level, std::string_view message) {
    if (level == LogLevel::kError) PrintError(message);
    if (level != LogLevel::kInfo && (level != LogLevel::kDebug || !with_details)) return;
    WriteToStandardError(
        fmt::format("hearth: {}: {}\n", level == LogLevel::kInfo ? "info" : "debug", OneLine(message)));
  });
}

// `hearth run --json m.tflite` lacks the FILE.
std::string WhyNoJsonFile(const std::string& path) {
  const std::string ending = EndingOf(path);
  return ending == ".tflite" || ending == ".onnx" ? "that would replace a model; '-' is standard output" : "";
}

}  // namespace

void LogAsTheEnvironmentSays() {
  const bool is_debug = IsLogged(LogLevel::kDebug);
  if (is_debug || IsLogged(LogLevel::kInfo)) {
    LogToStandardError(is_debug);
    return;
  }
  SetLogSink([](LogLevel message_level, std::string_view message) {
    if (message_level == LogLevel::kError) PrintError(message);
  });
}

void WriteToStandardError(std::string_view text) {
  std::fflush(stdout);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

void PrintError(std::string_view message) {
  WriteToStandardError(fmt::format("hearth: error: {}\n", OneLine(message)));
}

void OutputOptions::AddOptions(CLI::App& app) {
  app.add_option("--json", json_path_,
                 "Write the same data as JSON to FILE, or to standard output without FILE and for '-'")
      ->type_name("FILE")
      ->check(WhyNoJsonFile);
  app.add_flag("--quiet", quiet_, "No warnings");
  app.add_option_function<std::string>(
         "--log", [](const std::string& level) { LogToStandardError(level == "debug"); },
         "Say on standard error which device was chosen and why (info), and the phases of each start (debug)")
      ->check(CLI::IsMember({"info", "debug"}))
      ->type_name("LEVEL");
}

void OutputOptions::PrintText(std::string_view text) const {
  if (json_path_ == "-") return;
  // Names from models, bundles and drivers must not move a terminal's cursor or change its colours.
  const std::string plain = Printable(text, ' ', "\n\t");
  std::fwrite(plain.data(), 1, plain.size(), stdout);
}

void OutputOptions::PrintWarning(std::string_view message) const {
  if (!quiet_) WriteToStandardError(fmt::format("hearth: warning: {}\n", OneLine(message)));
}

void DrawProgress(size_t done, size_t total, std::string_view what) {
  if (isatty(STDERR_FILENO) == 0) return;
  constexpr size_t kWidth = 20;
  const size_t filled = total == 0 ? kWidth : kWidth * std::min(done, total) / total;
  std::string bar = "\r\x1b[K";
  if (done < total) {
    bar += fmt::format("[{}{}] {}/{} {}", std::string(filled, '#'), std::string(kWidth - filled, '.'), done, total,
                       OneLine(what));
  }
  WriteToStandardError(bar);
}

void OutputOptions::ShowProgress(size_t done, size_t total, std::string_view what) const {
  if (!quiet_) DrawProgress(done, total, what);
}

Status OutputOptions::CheckJson() const {
  return json_path_.empty() || json_path_ == "-" ? Status::Ok() : CheckWritable(json_path_);
}

Status OutputOptions::WriteJson(Json json) const {
  if (json_path_.empty()) return Status::Ok();
  if (IsInterrupted()) json["interrupted"] = true;
  // Names from model files and drivers may contain any bytes.
  const std::string text = json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  if (json_path_ != "-") {
    HEARTH_TRY(WriteFile(json_path_, text));
    PrintText(fmt::format("the data are in {}\n", json_path_));
    return Status::Ok();
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
  return Status::Ok();
}

void TextTable::AddRow(std::vector<std::string> cells) {
  HEARTH_CHECK(cells.size() == columns_.size());
  rows_.push_back(std::move(cells));
}

std::string TextTable::ToString() const {
  std::vector<std::vector<std::string>> lines;
  std::vector<std::string> heading;
  for (const std::string& column : columns_) heading.push_back(column.substr(column.starts_with('>') ? 1 : 0));
  if (std::any_of(heading.begin(), heading.end(), [](const std::string& name) { return !name.empty(); })) {
    lines.push_back(heading);
  }
  lines.insert(lines.end(), rows_.begin(), rows_.end());

  std::vector<size_t> widths(columns_.size(), 0);
  for (const auto& line : lines) {
    for (size_t k = 0; k < line.size(); ++k) widths[k] = std::max(widths[k], line[k].size());
  }
  std::string text;
  for (const auto& line : lines) {
    std::string row;
    for (size_t k = 0; k < line.size(); ++k) {
      const char* pattern = columns_[k].starts_with('>') ? "{}{:>{}}" : "{}{:<{}}";
      row += fmt::format(fmt::runtime(pattern), k == 0 ? "" : "  ", OneLine(line[k]), widths[k]);
    }
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + "\n";
  }
  return text;
}

std::string BytesText(uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1024;
  for (const char* unit : {"KiB", "MiB"}) {
    if (value < 1024) return fmt::format("{:.1f} {}", value, unit);
    value /= 1024;
  }
  return fmt::format("{:.1f} GiB", value);
}

std::string MillisecondsText(double milliseconds) {
  return fmt::format("{:.3f}", milliseconds);
}

void CatchInterrupts() {
  struct sigaction action = {};
  action.sa_handler = OnInterrupt;
  action.sa_flags = SA_RESETHAND | SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
}

bool IsInterrupted() {
  return interrupted != 0;
}

}  // namespace hearth
