// For libhearth.a, which holds the compiler itself: in the place of spirv_functions_opened.cc.
#include "backends/vulkan/spirv_functions.h"

namespace hearth::vulkan {

Result<HearthSpirvCompileFn> FindSpirvCompileFunction() {
  return &hearth_spirv_compile;
}

}  // namespace hearth::vulkan
