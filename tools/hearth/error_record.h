// The program's last errors, for `hearth diagnose`: without paths and names that a user gave.
#ifndef HEARTH_TOOLS_HEARTH_ERROR_RECORD_H_
#define HEARTH_TOOLS_HEARTH_ERROR_RECORD_H_

#include <string>
#include <string_view>
#include <vector>

namespace hearth {

// The text with words that contain a slash, quoted words and file names replaced by "<...>", fit for publication.
std::string WithoutUserData(std::string_view text);

// Adds a line to last_errors.txt in the cache's folder, which keeps the last 20. Does nothing if the folder is missing
// or refused. Never fails.
void RecordError(const std::string& verb, int exit_code, std::string_view message);
// The lines, oldest first.
std::vector<std::string> RecordedErrors();

}  // namespace hearth

#endif  // HEARTH_TOOLS_HEARTH_ERROR_RECORD_H_
