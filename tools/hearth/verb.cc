#include "tools/hearth/verb.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <utility>

#include "core/base/text.h"

namespace hearth {
ExitCode ConfirmDeletion(const std::string& what, bool is_confirmed, const OutputOptions& output) {
  if (is_confirmed) {
    output.PrintText(fmt::format("deleting {}\n", what));
    return ExitCode::kFine;
  }
  if (isatty(STDIN_FILENO) == 0) {
    PrintError(fmt::format("this would delete {}; use --yes to do it without being asked", what));
    return ExitCode::kUsage;
  }
  WriteToStandardError(fmt::format("This deletes {}. Go on? [y/N] ", what));
  std::string answer;
  if (std::getline(std::cin, answer) && (answer == "y" || answer == "Y" || answer == "yes")) return ExitCode::kFine;
  PrintError("nothing was deleted: the answer was not yes");
  return ExitCode::kFailed;
}

CLI::Validator Passes(std::function<Status(std::string_view text)> check) {
  return CLI::Validator([check = std::move(check)](std::string& text) { return check(text).message(); }, "");
}

std::string WhyNotFinite(const std::string& text) {
  char* rest = nullptr;
  const bool is_finite = std::isfinite(std::strtof(text.c_str(), &rest)) && *rest == '\0';
  return is_finite ? "" : fmt::format("'{}' is not a finite number", text);
}

std::string WhyNoWholeNumber(const std::string& text) {
  uint64_t number = 0;
  return NumberFrom(text, number) ? "" : "must be a whole number of at most 64 bits, without a sign";
}

}  // namespace hearth
