// Functions of the kernel dialect that are too long for a macro: a kernel's text carries those that it calls.
#ifndef HEARTH_CORE_EMIT_KERNEL_FUNCTIONS_H_
#define HEARTH_CORE_EMIT_KERNEL_FUNCTIONS_H_

#include <string>
#include <string_view>

#include "core/emit/kernel_source.h"

namespace hearth {

// Whether body, epilogue or defines of the kernel contain `word`.
bool Uses(const KernelSource& source, std::string_view word);

// Their definitions, to stand between the prelude and the kernel. In OpenCL each guards itself, because several kernels
// share a program.
std::string FunctionsUsedBy(const KernelSource& source, Dialect dialect);

}  // namespace hearth

#endif  // HEARTH_CORE_EMIT_KERNEL_FUNCTIONS_H_
