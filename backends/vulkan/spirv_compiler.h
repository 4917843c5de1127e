// GLSL to SPIR-V inside the process, by glslang in libhearth_spirv.so.
#ifndef HEARTH_BACKENDS_VULKAN_SPIRV_COMPILER_H_
#define HEARTH_BACKENDS_VULKAN_SPIRV_COMPILER_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "backends/vulkan/spirv/spirv_library.h"
#include "hearth/status.h"

namespace hearth::vulkan {

using SpirvWords = std::vector<uint32_t>;

std::string SpirvCompilerName();  // "glslang 11.13.0": what the SPIR-V of a text depends on

// Compiles a compute shader for Vulkan 1.1 (SPIR-V 1.3), unoptimized, because drivers optimize anyway. kUnavailable
// with the compiler's log, or with the paths where libhearth_spirv.so was looked for. Threads: any, in parallel.
Result<SpirvWords> CompileToSpirv(const std::string& glsl);

// Whether `words` are a SPIR-V 1.0 to 1.3 module with a valid header and instructions that end exactly at the end. A
// driver may crash on anything else.
Status CheckSpirv(std::span<const uint32_t> words);

// hearth_spirv_compile: in libhearth_spirv.so (spirv_functions_opened.cc), or in the program itself if Hearth is linked
// statically (spirv/functions_linked.cc). kUnavailable with the paths where the library was looked for. Threads: any;
// the function stays valid.
Result<HearthSpirvCompileFn> FindSpirvCompileFunction();

}  // namespace hearth::vulkan

#endif  // HEARTH_BACKENDS_VULKAN_SPIRV_COMPILER_H_
