#include "core/graph/quantize.h"

#include <utility>

namespace hearth {

bool IsPlainFloat32(const TensorDesc& desc) {
  return desc.dtype == DType::kFloat32 && !desc.quantization.has_value();
}

bool IsPlainFloat(const TensorDesc& desc) {
  return (desc.dtype == DType::kFloat32 || desc.dtype == DType::kFloat16) && !desc.quantization.has_value();
}

bool IsQuantized(const TensorDesc& desc) {
  return desc.quantization.has_value() && desc.dtype != DType::kFloat32 && desc.dtype != DType::kFloat16 &&
         desc.dtype != DType::kBool;
}

bool IsReal(const TensorDesc& desc) {
  return desc.dtype == DType::kFloat32 || desc.dtype == DType::kFloat16 || desc.dtype == DType::kBool ||
         IsQuantized(desc);
}

namespace {

std::pair<double, double> StoredRange(DType dtype) {
  switch (dtype) {
    case DType::kUInt8: return {0, 255};
    case DType::kInt8: return {-128, 127};
    case DType::kInt16: return {-32768, 32767};
    case DType::kInt4: return {-8, 7};
    default: return {-2147483648.0, 2147483647.0};
  }
}

}  // namespace

TensorGrid GridOf(const TensorDesc& desc) {
  TensorGrid grid;
  if (IsQuantized(desc) && !desc.quantization->scales.empty()) {
    grid.scale = desc.quantization->scales[0];
    grid.inverse = static_cast<float>(1.0 / static_cast<double>(grid.scale));
    if (!desc.quantization->zero_points.empty()) grid.zero_point = desc.quantization->zero_points[0];
  }
  const auto [lowest, highest] = StoredRange(desc.dtype);
  grid.lowest = static_cast<float>(lowest - static_cast<double>(grid.zero_point));
  grid.highest = static_cast<float>(highest - static_cast<double>(grid.zero_point));
  return grid;
}

}  // namespace hearth
