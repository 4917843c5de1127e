// Where PoCL puts what it compiles.
#ifndef HEARTH_BACKENDS_OPENCL_POCL_FOLDER_H_
#define HEARTH_BACKENDS_OPENCL_POCL_FOLDER_H_

#include <string>

namespace hearth {

// What to add to the message of a build that failed: PoCL says no more than that it did where it may not write to its
// folder, as in a container whose root is read-only. Empty where it may.
std::string HintOfPoclFolder();

}  // namespace hearth

#endif  // HEARTH_BACKENDS_OPENCL_POCL_FOLDER_H_
