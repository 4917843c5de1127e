// OpenCL C of several kernels that share a program. kernel_source.h has what is of one kernel.
#ifndef HEARTH_CORE_EMIT_EMIT_H_
#define HEARTH_CORE_EMIT_EMIT_H_

#include <span>
#include <string>

#include "core/emit/kernel_source.h"

namespace hearth {

// Each kernel once, by its EntryPoint, behind the helpers that any of them uses.
std::string EmitOpenClProgram(std::span<const KernelSource> sources);

}  // namespace hearth

#endif  // HEARTH_CORE_EMIT_EMIT_H_
