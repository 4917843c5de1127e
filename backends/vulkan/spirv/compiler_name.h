// The name of the GLSL compiler that Hearth is built with.
#ifndef HEARTH_BACKENDS_VULKAN_SPIRV_COMPILER_NAME_H_
#define HEARTH_BACKENDS_VULKAN_SPIRV_COMPILER_NAME_H_

#include <fmt/format.h>
#include <glslang/build_info.h>

#include <string>

namespace hearth::vulkan {

// "glslang 11.13.0", on which the SPIR-V of a text depends. Known without opening libhearth_spirv.so.
inline std::string BuiltCompilerName() {
  return fmt::format("glslang {}.{}.{}", GLSLANG_VERSION_MAJOR, GLSLANG_VERSION_MINOR, GLSLANG_VERSION_PATCH);
}

}  // namespace hearth::vulkan

#endif  // HEARTH_BACKENDS_VULKAN_SPIRV_COMPILER_NAME_H_
