// OpenCL C for several kernels in one program. kernel_source.h has Emit for one kernel.
#ifndef HEARTH_CORE_EMIT_EMIT_H_
#define HEARTH_CORE_EMIT_EMIT_H_

#include <span>
#include <string>
#include <string_view>

#include "core/emit/kernel_source.h"

namespace hearth {

// A define. Not 0: the kernel reads memory that it writes; each work item reads only what it writes itself.
inline constexpr std::string_view kInPlace = "IN_PLACE";

// Qualifies the pointers of all other kernels in OpenCL C. It is empty unless the driver defines it as restrict: no
// other pointer reaches the same memory.
inline constexpr std::string_view kAlone = "px_alone";

// Each kernel once, by its EntryPoint, after the helpers that any of them uses.
std::string EmitOpenClProgram(std::span<const KernelSource> sources);

}  // namespace hearth

#endif  // HEARTH_CORE_EMIT_EMIT_H_
