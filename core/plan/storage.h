// How a value is stored on a device, and how much of a buffer a texel view covers.
#ifndef HEARTH_CORE_PLAN_STORAGE_H_
#define HEARTH_CORE_PLAN_STORAGE_H_

#include <cstdint>

#include "core/device/device_info.h"
#include "core/device/options.h"
#include "core/emit/kernel_source.h"
#include "core/graph/quantize.h"

namespace hearth {

// Real numbers as floats of the precision (quantized ones of more than 8 bits as float32), integers as int32 (int64 as
// its low 32 bits; see Placing in core/graph/op_def.h).
inline StorageType StorageOf(const TensorDesc& desc, StorageType real) {
  if (!IsReal(desc)) return StorageType::kInt32;
  // float16 has 11 significant bits, too few for a 16-bit grid.
  return IsQuantized(desc) && BitsOf(desc.dtype) > 8 ? StorageType::kFloat32 : real;
}

// The storage of real numbers: float16 for the 16-bit precisions on a device that can load and store it.
inline StorageType RealStorage(Precision precision, const DeviceInfo& device) {
  return precision != Precision::kFp32 && device.fp16_storage ? StorageType::kFloat16 : StorageType::kFloat32;
}

// ---- Texel views ----
//
// llvmpipe and lavapipe (Mesa 22.3 to 24.0) interpret bits 8 to 15 of a texel view's size in bytes as a mip level,
// which other textures have there, and compile one variant per program and pattern of zero and non-zero levels.
// MobileNet v1 then compiles nine times instead of six, and each later start finds one variant less in Mesa's disk
// cache than it could (face_landmark: ready in 1330, 910, 400, 180 ms at the first four starts). So a plan leaves a
// little room after ranges whose size has zero there, and views cover it; nothing is ever read from it.

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

#endif  // HEARTH_CORE_PLAN_STORAGE_H_
