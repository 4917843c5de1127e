#include "core/plan/storage.h"

#include "core/graph/quantize.h"

namespace hearth {

StorageType StorageOf(const TensorDesc& desc, StorageType real) {
  if (!IsReal(desc)) return StorageType::kInt32;
  // float16 has 11 significant bits, too few for a 16-bit grid.
  return IsQuantized(desc) && BitsOf(desc.dtype) > 8 ? StorageType::kFloat32 : real;
}

StorageType RealStorage(Precision precision, const DeviceInfo& device) {
  return precision != Precision::kFp32 && device.fp16_storage ? StorageType::kFloat16 : StorageType::kFloat32;
}

}  // namespace hearth
