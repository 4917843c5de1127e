#include "core/storage.h"

namespace hearth {

bool IsQuantized(const TensorDesc& desc) {
  return desc.quantization.has_value() && desc.dtype != DType::kFloat32 && desc.dtype != DType::kFloat16 &&
         desc.dtype != DType::kBool;
}

bool IsReal(const TensorDesc& desc) {
  return desc.dtype == DType::kFloat32 || desc.dtype == DType::kFloat16 || desc.dtype == DType::kBool ||
         IsQuantized(desc);
}

StorageType StorageOf(const TensorDesc& desc, StorageType real) {
  if (!IsReal(desc)) return StorageType::kInt32;
  // float16 has 11 digits: a grid of 16 bits needs more.
  return IsQuantized(desc) && BitsOf(desc.dtype) > 8 ? StorageType::kFloat32 : real;
}

StorageType RealStorage(Precision precision, const DeviceInfo& device) {
  return precision != Precision::kFp32 && device.fp16_storage ? StorageType::kFloat16 : StorageType::kFloat32;
}

}  // namespace hearth
