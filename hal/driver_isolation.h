// Drivers in a process that already has another LLVM. Software drivers and some GPU drivers compile with libLLVM, whose
// symbols the loader looks up in the process first. TensorFlow's Python package exports an LLVM of its own, of another
// version and without symbol versions, to the whole process. Drivers then call into it and crash (measured with
// TensorFlow 2.21 on PoCL 3.1, lavapipe and llvmpipe 22.3).
#ifndef HEARTH_HAL_DRIVER_ISOLATION_H_
#define HEARTH_HAL_DRIVER_ISOLATION_H_

#include <functional>
#include <string>
#include <vector>

#include "hearth/status.h"

namespace hearth {

// The file of an LLVM that the whole process sees and that would replace a driver's libLLVM; empty if there is none.
// Takes about ten microseconds. Any thread.
std::string ForeignLlvm();

// Call it before the first use of an API. If there is a foreign LLVM, it gets the API's drivers from `driver_files` and
// opens them so that they look up symbols in their own libraries first (RTLD_DEEPBIND); they stay open. The API's
// loader handles a file that does not open. kUnavailable if this is impossible: with a sanitizer, or if malloc is not
// the C library's (a driver would then mix two allocators).
Status IsolateDrivers(const std::function<std::vector<std::string>()>& driver_files);

// kUnavailable if a foreign LLVM came into the process after a driver was opened without isolation. Call it before a
// driver that may contain LLVM compiles. Any thread.
Status CheckNoNewLlvm();

}  // namespace hearth

#endif  // HEARTH_HAL_DRIVER_ISOLATION_H_
