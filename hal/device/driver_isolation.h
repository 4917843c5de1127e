// Drivers in a process that already has another LLVM. Software drivers and some GPU drivers compile with libLLVM, whose
// symbols the loader looks up in the process first. TensorFlow's Python package exports an LLVM of its own, of another
// version and without symbol versions, to the whole process. Drivers then call into it and crash (measured with
// TensorFlow 2.21 on PoCL 3.1, lavapipe and llvmpipe 22.3). A system's libLLVM has symbol versions, and still crosses
// with one of another version: PoCL 3.1 with LLVM 15 ends in a process that sees LLVM 14.
#ifndef HEARTH_HAL_DEVICE_DRIVER_ISOLATION_H_
#define HEARTH_HAL_DEVICE_DRIVER_ISOLATION_H_

#include <string>
#include <string_view>
#include <vector>

#include "hearth/status.h"

namespace hearth {

using DriverFiles = std::vector<std::string> (*)();

// The file of the LLVM that the whole process sees; empty if there is none. Takes about ten microseconds. Any thread.
std::string GlobalLlvm();

// Call it before the first use of a backend's API. If the process sees an LLVM, it gets the API's drivers from `files`
// and opens them so that they look up symbols in their own libraries first (RTLD_DEEPBIND); they stay open. The API's
// loader handles a file that does not open. kUnavailable if this is impossible and a driver has another LLVM: with a
// sanitizer, or if malloc is not the C library's (a driver would then mix two allocators).
Status IsolateDrivers(std::string_view backend, DriverFiles files);

// kUnavailable if an LLVM that is not the driver's own came into the process after the backend's drivers were opened
// without isolation. Call it before a driver that may contain LLVM compiles. Any thread.
Status CheckNoNewLlvm(std::string_view backend);

}  // namespace hearth

#endif  // HEARTH_HAL_DEVICE_DRIVER_ISOLATION_H_
