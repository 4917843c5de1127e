#include "core/graph/quantize.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace hearth {

bool IsPlainFloat32(const TensorDesc& desc) {
  return desc.dtype == DType::kFloat32 && !desc.quantization.has_value();
}

bool IsPlainFloat(const TensorDesc& desc) {
  return (desc.dtype == DType::kFloat32 || desc.dtype == DType::kFloat16) && !desc.quantization.has_value();
}

bool IsQuantized(const TensorDesc& desc) {
  return desc.quantization.has_value() && !IsFloat(desc.dtype) && desc.dtype != DType::kBool;
}

bool IsReal(const TensorDesc& desc) {
  return IsFloat(desc.dtype) || desc.dtype == DType::kBool || IsQuantized(desc);
}

namespace {

std::pair<double, double> StoredRange(DType dtype) {
  switch (dtype) {
    case DType::kUInt8: return {0, 255};
    case DType::kInt8: return {-128, 127};
    case DType::kInt16: return {-32768, 32767};
    case DType::kInt4: return {-8, 7};
    case DType::kInt64: return {-0x1p63, 0x1p63};
    default: return {-2147483648.0, 2147483647.0};
  }
}

}  // namespace

TensorGrid GridOf(DType dtype, float scale, int64_t zero_point) {
  TensorGrid grid;
  grid.scale = scale;
  // Finite, so that 0 stays 0: TensorFlow's converter writes scales of 1e-43, for what is always 0.
  grid.inverse =
      static_cast<float>(std::min(1.0 / static_cast<double>(scale), double{std::numeric_limits<float>::max()}));
  grid.zero_point = zero_point;
  const auto [lowest, highest] = StoredRange(dtype);
  grid.lowest = static_cast<float>(lowest - static_cast<double>(zero_point));
  grid.highest = static_cast<float>(highest - static_cast<double>(zero_point));
  return grid;
}

TensorGrid GridOf(const TensorDesc& desc) {
  if (!IsQuantized(desc) || desc.quantization->scales.empty()) return GridOf(desc.dtype, 1, 0);
  const std::vector<int64_t>& zero_points = desc.quantization->zero_points;
  return GridOf(desc.dtype, desc.quantization->scales[0], zero_points.empty() ? 0 : zero_points[0]);
}

double StoredNumber(double real, const TensorGrid& grid) {
  const auto zero_point = static_cast<double>(grid.zero_point);
  if (grid.scale == 0.0f) return zero_point;  // a channel of zeros
  if (IsSmall(grid)) return zero_point + StepsOf(static_cast<float>(real), grid);
  const double lowest = grid.lowest, steps = std::round(real / static_cast<double>(grid.scale));
  return zero_point + (steps > lowest ? std::min<double>(steps, grid.highest) : lowest);
}

std::vector<float> ScaleColumns(std::span<float> rows, std::span<const float> factors) {
  const size_t columns = factors.size();
  std::vector<float> largest(columns);
  for (; !rows.empty(); rows = rows.subspan(columns)) {
    for (size_t k = 0; k < columns; ++k) {
      largest[k] = std::max(largest[k], std::fabs(rows[k]));
      rows[k] *= factors[k];
    }
  }
  return largest;
}

std::vector<float> ScaleRows(std::span<float> rows, std::span<const float> factors) {
  const size_t length = rows.size() / factors.size();
  std::vector<float> largest;
  for (size_t row = 0; row < factors.size(); ++row) {
    const std::span<float> numbers = rows.subspan(row * length, length);
    float most = 0;
    for (const float number : numbers) most = std::max(most, std::fabs(number));
    for (float& number : numbers) number *= factors[row];
    largest.push_back(most);
  }
  return largest;
}

}  // namespace hearth
