// Opens libhearth_spirv.so when something has to be compiled. libhearth.a has spirv/functions_linked.cc.
#include "backends/vulkan/spirv_compiler.h"
#include "core/base/dynamic_library.h"
#include "core/base/error.h"

namespace hearth::vulkan {

Result<HearthSpirvCompileFn> FindSpirvCompileFunction() {
  HEARTH_ASSIGN(DynamicLibrary library, DynamicLibrary::OpenOurs(HEARTH_SPIRV_LIBRARY));
  const auto compile = library.Symbol<HearthSpirvCompileFn>("hearth_spirv_compile");
  const auto name = library.Symbol<HearthSpirvCompilerNameFn>("hearth_spirv_compiler_name");
  if (compile == nullptr || name == nullptr || name() != BuiltCompilerName()) {
    return Error(StatusCode::kUnavailable,
                 HEARTH_SPIRV_LIBRARY " is of another version; install the one that came with this Hearth");
  }
  library.Leak();  // glslang keeps memory for the whole process
  return compile;
}

}  // namespace hearth::vulkan
