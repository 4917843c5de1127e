// The .kernel files, compiled into the library and parsed on demand. Their header format is
// described in kernels/README.md.
#ifndef HEARTH_CORE_EMIT_KERNEL_LIBRARY_H_
#define HEARTH_CORE_EMIT_KERNEL_LIBRARY_H_

#include <string>
#include <string_view>
#include <vector>

#include "core/emit/kernel_source.h"

namespace hearth {

// Names of all kernels, sorted.
std::vector<std::string> KernelNames();

// The kernel with its default defines, buffer access, float32 storage and no epilogue.
// kNotFound lists the names that exist; kInternal names a line of a broken header.
Result<KernelSource> LoadKernel(std::string_view name);

// Fills in body and shared arrays of a kernel that a cached plan names. kMalformedInput unless the library has this
// kernel with these arguments and defines, and everything else is something that lowering can write. So no text from a
// plan reaches a compiler.
Status CompleteStoredKernel(KernelSource& source);

// The text of one .kernel file as a source; `name` is the file's name without its ending.
Result<KernelSource> ParseKernel(std::string_view name, std::string_view text);

// Sets `name` to another value. kInternal unless the kernel declares it.
Status SetDefine(KernelSource& source, std::string_view name, std::string_view value);

}  // namespace hearth

#endif  // HEARTH_CORE_EMIT_KERNEL_LIBRARY_H_
