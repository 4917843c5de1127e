// Drivers in a process that already holds another LLVM. Software drivers and some GPUs' compile with libLLVM, whose
// symbols the loader looks up in the process first. TensorFlow's Python package makes an LLVM of its own, of another
// version and without symbol versions, visible to the whole process: drivers then call into it and crash (measured with
// TensorFlow 2.21 on PoCL 3.1, lavapipe and llvmpipe 22.3).
#ifndef HEARTH_HAL_DRIVER_ISOLATION_H_
#define HEARTH_HAL_DRIVER_ISOLATION_H_

#include <functional>
#include <string>
#include <vector>

#include "hearth/status.h"

namespace hearth {

// The file of an LLVM that the whole process sees and that a driver's libLLVM would be mistaken for; empty when there
// is none. Threads: any. About ten microseconds.
std::string ForeignLlvm();

// To be called before the first use of an API whose drivers are `driver_files`, which are only asked for where there is
// a foreign LLVM. It then opens these files so that they look up symbols in their own libraries first (RTLD_DEEPBIND),
// and keeps them; a file that does not open is left to the API's loader. kUnavailable where that can't be done: with a
// sanitizer, or where malloc is not the C library's (a driver would then mix two of them).
Status IsolateDrivers(const std::function<std::vector<std::string>()>& driver_files);

// kUnavailable when a foreign LLVM came into the process after a driver was opened without isolation. To be asked
// before a driver that may hold LLVM compiles. Threads: any.
Status CheckNoNewLlvm();

}  // namespace hearth

#endif  // HEARTH_HAL_DRIVER_ISOLATION_H_
