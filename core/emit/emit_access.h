// How each dialect reads and writes the memory of a tensor argument: the texts for x_load and y_store.
#ifndef HEARTH_CORE_EMIT_EMIT_ACCESS_H_
#define HEARTH_CORE_EMIT_EMIT_ACCESS_H_

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

}  // namespace hearth

#endif  // HEARTH_CORE_EMIT_EMIT_ACCESS_H_
