// The interface of libhearth_spirv.so, which contains glslang. glslang is more than half of Hearth's code. So the
// library, the plugin, the program and the Python package share it, and a start that finds its SPIR-V in the cache
// never opens it. The interface has only C types, so that it can be built separately.
#ifndef HEARTH_BACKENDS_VULKAN_SPIRV_SPIRV_LIBRARY_H_
#define HEARTH_BACKENDS_VULKAN_SPIRV_SPIRV_LIBRARY_H_

#include <fmt/format.h>
#include <glslang/build_info.h>
#include <stddef.h>
#include <stdint.h>

#include <string>

extern "C" {

// The caller's callbacks: exactly one of the two is called, once, before the compiler returns.
struct HearthSpirvReceiver {
  void* user;
  void (*words)(void* user, const uint32_t* words, size_t count);
  void (*error)(void* user, const char* message);
};

// Compiles a GLSL compute shader for Vulkan 1.1 to SPIR-V 1.3. Threads: any, in parallel.
using HearthSpirvCompileFn = void (*)(const char* glsl, const HearthSpirvReceiver* receiver);
__attribute__((visibility("default"))) void hearth_spirv_compile(const char* glsl, const HearthSpirvReceiver* receiver);

// "glslang 11.13.0". It must be the one that the caller was built with, because cache keys contain its name.
using HearthSpirvCompilerNameFn = const char* (*)();
__attribute__((visibility("default"))) const char* hearth_spirv_compiler_name();
}

namespace hearth::vulkan {

// The compiler that Hearth is built with: "glslang 11.13.0", on which the SPIR-V of a text depends. Known without
// opening libhearth_spirv.so.
inline std::string BuiltCompilerName() {
  return fmt::format("glslang {}.{}.{}", GLSLANG_VERSION_MAJOR, GLSLANG_VERSION_MINOR, GLSLANG_VERSION_PATCH);
}

}  // namespace hearth::vulkan

#endif  // HEARTH_BACKENDS_VULKAN_SPIRV_SPIRV_LIBRARY_H_
