// How a value is stored on a device.
#ifndef HEARTH_CORE_PLAN_STORAGE_H_
#define HEARTH_CORE_PLAN_STORAGE_H_

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

}  // namespace hearth

#endif  // HEARTH_CORE_PLAN_STORAGE_H_
