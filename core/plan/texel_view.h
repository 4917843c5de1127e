// How much of a buffer a texel view covers.
//
// llvmpipe and lavapipe (Mesa 22.3 to 24.0) interpret bits 8 to 15 of a texel view's size in bytes as a mip level,
// which other textures have there, and compile one variant per program and pattern of zero and non-zero levels.
// MobileNet v1 then compiles nine times instead of six, and each later start finds one variant less in Mesa's disk
// cache than it could (face_landmark: ready in 1330, 910, 400, 180 ms at the first four starts). So a plan leaves a
// little room after ranges whose size has zero there, and views cover it; nothing is ever read from it.
#ifndef HEARTH_CORE_PLAN_TEXEL_VIEW_H_
#define HEARTH_CORE_PLAN_TEXEL_VIEW_H_

#include <cstdint>

namespace hearth {

// The room after a range of `size_bytes`: 0 or 256 bytes.
constexpr uint64_t TexelViewRoomBytes(uint64_t size_bytes) {
  return (size_bytes >> 8 & 0xff) == 0 ? 256 : 0;
}

// The size of the view of a range at `offset_bytes` of a buffer. It includes the room if the buffer has it and the view
// stays within `max_texels` of `texel_bytes` each.
constexpr uint64_t TexelViewBytes(uint64_t offset_bytes, uint64_t size_bytes, uint64_t buffer_bytes,
                                  uint64_t texel_bytes, uint64_t max_texels) {
  const uint64_t wanted_bytes = size_bytes + TexelViewRoomBytes(size_bytes);
  const bool fits = offset_bytes + wanted_bytes <= buffer_bytes && wanted_bytes / texel_bytes <= max_texels;
  return fits ? wanted_bytes : size_bytes;
}

}  // namespace hearth

#endif  // HEARTH_CORE_PLAN_TEXEL_VIEW_H_
