// For libhearth.a, which contains the compiler; replaces spirv_functions_opened.cc.
#include "backends/vulkan/spirv_compiler.h"

namespace hearth::vulkan {

Result<HearthSpirvCompileFn> FindSpirvCompileFunction() {
  return &hearth_spirv_compile;
}

}  // namespace hearth::vulkan
