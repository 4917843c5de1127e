// The folder where PoCL stores compiled programs.
#ifndef HEARTH_BACKENDS_OPENCL_POCL_FOLDER_H_
#define HEARTH_BACKENDS_OPENCL_POCL_FOLDER_H_

#include <string>

namespace hearth {

// An addition to the message of a failed build; empty if PoCL can write to its folder. Where it can't, as in a
// container with a read-only root, PoCL gives no reason.
std::string HintOfPoclFolder();

}  // namespace hearth

#endif  // HEARTH_BACKENDS_OPENCL_POCL_FOLDER_H_
