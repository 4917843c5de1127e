// Asks before something is deleted.
#ifndef HEARTH_TOOLS_HEARTH_CONFIRM_DELETION_H_
#define HEARTH_TOOLS_HEARTH_CONFIRM_DELETION_H_

#include <string>

#include "tools/hearth/exit_code.h"
#include "tools/hearth/printing.h"

namespace hearth {

// kFine: go on. `is_confirmed`: confirmed on the command line, which is required without a terminal.
ExitCode ConfirmDeletion(const std::string& what, bool is_confirmed, const OutputOptions& output);

}  // namespace hearth

#endif  // HEARTH_TOOLS_HEARTH_CONFIRM_DELETION_H_
