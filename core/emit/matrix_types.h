// Cooperative matrices, whose elements a driver spreads over a subgroup, in the text of a kernel for Vulkan.
#ifndef HEARTH_CORE_EMIT_MATRIX_TYPES_H_
#define HEARTH_CORE_EMIT_MATRIX_TYPES_H_

#include <string>

#include "core/emit/kernel_source.h"

namespace hearth {

// The shape of the matrices, which lowering sets; 0: the kernel has none.
inline constexpr std::string_view kTileRows = "TILE_M", kTileColumns = "TILE_N", kTileDepth = "TILE_K";

// The extensions, types and functions of such a kernel; empty for others. Written as SPIR-V instructions
// (GL_EXT_spirv_intrinsics), since glslang before 13 does not know GL_KHR_cooperative_matrix. Its types can't be
// written so: the number of bits stands for them (backends/vulkan/spirv_compiler.cc).
std::string MatrixTypes(const KernelSource& source);

}  // namespace hearth

#endif  // HEARTH_CORE_EMIT_MATRIX_TYPES_H_
