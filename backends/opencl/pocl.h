// Where PoCL 3.1 ends the process: it stores each program in a folder, links it with a child process and opens it as a
// library, and calls abort or exit when one of these fails. What can be known before is an error instead.
#ifndef HEARTH_BACKENDS_OPENCL_POCL_H_
#define HEARTH_BACKENDS_OPENCL_POCL_H_

#include <filesystem>
#include <string>

#include "hearth/status.h"

namespace hearth {

// Call it before the first use of OpenCL. If the program has set no POCL_CACHE_DIR and PoCL's own choice would not do,
// it is set to one that does: `folder`/pocl, whose parent is this user's own, or a private folder in XDG_RUNTIME_DIR,
// /var/tmp or /tmp.
void ChoosePoclFolder(const std::filesystem::path& folder = {});

// kUnavailable with the reason why PoCL would end this process when it builds a program: SIGCHLD is ignored, or its
// folder is on a mount without exec or without room. Takes a few microseconds. Any thread.
Status CheckPoclSurvives();

// An addition to the message of a failed build; empty if PoCL can write to its folder. Where it can't, as in a
// container with a read-only root, PoCL gives no reason.
std::string HintOfPoclFolder();

}  // namespace hearth

#endif  // HEARTH_BACKENDS_OPENCL_POCL_H_
