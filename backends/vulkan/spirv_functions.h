// Finds the GLSL compiler: in libhearth_spirv.so, or in the program itself if Hearth is linked statically.
#ifndef HEARTH_BACKENDS_VULKAN_SPIRV_FUNCTIONS_H_
#define HEARTH_BACKENDS_VULKAN_SPIRV_FUNCTIONS_H_

#include "backends/vulkan/spirv/spirv_library.h"
#include "hearth/status.h"

namespace hearth::vulkan {

// hearth_spirv_compile. kUnavailable with the paths where the library was looked for. Threads: any; the function stays
// valid.
Result<HearthSpirvCompileFn> FindSpirvCompileFunction();

}  // namespace hearth::vulkan

#endif  // HEARTH_BACKENDS_VULKAN_SPIRV_FUNCTIONS_H_
