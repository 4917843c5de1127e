// The last errors of the program, kept for `hearth diagnose`: without paths, and without names that a user gave.
#ifndef HEARTH_TOOLS_HEARTH_ERROR_RECORD_H_
#define HEARTH_TOOLS_HEARTH_ERROR_RECORD_H_

#include <string>
#include <string_view>
#include <vector>

namespace hearth {

// What is left of a text that may be shown to others: words with a slash, quoted words and file names become "<...>".
std::string WithoutUserData(std::string_view text);

// Adds a line to last_errors.txt in the cache's folder, which keeps the last 20; nothing where that folder is missing
// or refused. Never fails: an error on the way to telling an error is nobody's business.
void RecordError(const std::string& verb, int exit_code, std::string_view message);
// The lines, oldest first.
std::vector<std::string> RecordedErrors();

}  // namespace hearth

#endif  // HEARTH_TOOLS_HEARTH_ERROR_RECORD_H_
