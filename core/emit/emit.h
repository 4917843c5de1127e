// OpenCL C of several kernels that share a program. kernel_source.h has what is of one kernel.
#ifndef HEARTH_CORE_EMIT_EMIT_H_
#define HEARTH_CORE_EMIT_EMIT_H_

#include <span>
#include <string>
#include <string_view>

#include "core/emit/kernel_source.h"

namespace hearth {

// A define: other than 0, the kernel reads memory that it writes, each work item what it alone writes.
inline constexpr std::string_view kInPlace = "IN_PLACE";

// Stands before the pointers of all other kernels in OpenCL C, and is nothing unless the driver is told what it is:
// what such a pointer reaches nothing else reaches (restrict).
inline constexpr std::string_view kAlone = "px_alone";

// Each kernel once, by its EntryPoint, behind the helpers that any of them uses.
std::string EmitOpenClProgram(std::span<const KernelSource> sources);

}  // namespace hearth

#endif  // HEARTH_CORE_EMIT_EMIT_H_
