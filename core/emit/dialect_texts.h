// Texts that depend on the dialect: how it reads and writes the memory of a tensor argument (for x_load and y_store),
// and how a kernel for Vulkan declares cooperative matrices.
#ifndef HEARTH_CORE_EMIT_DIALECT_TEXTS_H_
#define HEARTH_CORE_EMIT_DIALECT_TEXTS_H_

#include <string>

#include "core/emit/kernel_source.h"

namespace hearth {

// Formats for one argument, whose memory is `{0}`. A load has the index `i`; a store has `i` and `v`.
struct AccessText {
  const char* element;  // type of an element of the memory
  const char* load;
  const char* store;
};

AccessText OpenClAccess(StorageType storage);
AccessText GlslAccess(const TensorArg& arg);

// Access to a texture in GLSL; see AccessPath::kTexture.
inline constexpr const char* kTextureLoad =
    "texelFetch({0}, ivec2((i) % textureSize({0}, 0).x, (i) / textureSize({0}, 0).x), 0)";
inline constexpr const char* kTextureStore = "imageStore({0}, ivec2(i % imageSize({0}).x, i / imageSize({0}).x), v);";
const char* GlslImageFormat(StorageType storage);  // "rgba8"

// The shape of cooperative matrices, whose elements a driver spreads over a subgroup. Lowering sets it; 0: the kernel
// has none.
inline constexpr std::string_view kTileRows = "TILE_M", kTileColumns = "TILE_N", kTileDepth = "TILE_K";

// The extensions, types and functions of such a kernel; empty for others. Written as SPIR-V instructions
// (GL_EXT_spirv_intrinsics), since glslang before 13 does not know GL_KHR_cooperative_matrix. Its types can't be
// written so: the number of bits stands for them (backends/vulkan/spirv_compiler.cc).
std::string MatrixTypes(const KernelSource& source);

}  // namespace hearth

#endif  // HEARTH_CORE_EMIT_DIALECT_TEXTS_H_
