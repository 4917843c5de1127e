// The interface of libhearth_spirv.so, glslang in a library of its own: it is more than half of Hearth's code, the
// library, the plugin, the program and the Python package share it, and a start that finds its SPIR-V in the cache
// never opens it. C types only, so that it may be built apart.
#ifndef HEARTH_BACKENDS_VULKAN_SPIRV_SPIRV_LIBRARY_H_
#define HEARTH_BACKENDS_VULKAN_SPIRV_SPIRV_LIBRARY_H_

#include <stddef.h>
#include <stdint.h>

extern "C" {

// What the caller gets: exactly one of the two is called, once, before the compiler returns.
struct HearthSpirvReceiver {
  void* user;
  void (*words)(void* user, const uint32_t* words, size_t count);
  void (*error)(void* user, const char* message);
};

// Compiles a GLSL compute shader for Vulkan 1.1 to SPIR-V 1.3. Threads: any, in parallel.
using HearthSpirvCompileFn = void (*)(const char* glsl, const HearthSpirvReceiver* receiver);
__attribute__((visibility("default"))) void hearth_spirv_compile(const char* glsl, const HearthSpirvReceiver* receiver);

// "glslang 11.13.0": must be what the caller was built with, since keys of the cache name it.
using HearthSpirvCompilerNameFn = const char* (*)();
__attribute__((visibility("default"))) const char* hearth_spirv_compiler_name();
}

#endif  // HEARTH_BACKENDS_VULKAN_SPIRV_SPIRV_LIBRARY_H_
