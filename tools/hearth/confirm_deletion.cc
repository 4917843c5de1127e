#include "tools/hearth/confirm_deletion.h"

#include <fmt/format.h>
#include <unistd.h>

#include <iostream>

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

}  // namespace hearth
