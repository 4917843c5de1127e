#include "backends/cpu/host/quantized.h"

#include <algorithm>
#include <limits>

#include "backends/cpu/host/vectorized.h"
#include "core/graph/element.h"
#include "core/graph/quantize.h"

namespace hearth {
namespace {

template <typename T>
void Read(const TensorGrid& grid, const std::byte* stored, std::span<float> floats) {
  const auto zero_point = static_cast<int32_t>(grid.zero_point);  // 32 bits, so that the loop vectorizes
  Vectorized([&]() HEARTH_INTO_CALLER {
    for (size_t i = 0; i < floats.size(); ++i) {
      floats[i] = static_cast<float>(LoadAt<T>(stored, static_cast<int64_t>(i)) - zero_point) * grid.scale;
    }
  });
}

template <typename T>
void Write(const TensorGrid& grid, std::span<const float> floats, std::byte* stored) {
  const auto zero_point = static_cast<int32_t>(grid.zero_point);
  Vectorized([&]() HEARTH_INTO_CALLER {
    for (size_t i = 0; i < floats.size(); ++i) {
      StoreAt(stored, static_cast<int64_t>(i), static_cast<T>(StepsOf(floats[i], grid) + zero_point));
    }
  });
}

void Round(const TensorGrid& grid, std::span<float> floats) {
  Vectorized([&]() HEARTH_INTO_CALLER {
    for (float& real : floats) real = static_cast<float>(StepsOf(real, grid)) * grid.scale;
  });
}

// Calls visit with an element of the stored type.
template <typename Visit>
void WithType(DType dtype, Visit visit) {
  switch (dtype) {
    case DType::kInt8: return visit(int8_t{});
    case DType::kUInt8: return visit(uint8_t{});
    default: return visit(int16_t{});
  }
}

}  // namespace

bool IsHeldAsFloats(const TensorDesc& desc) {
  if (!IsQuantized(desc) || desc.quantization->scales.size() != 1) return false;
  if (desc.dtype != DType::kInt8 && desc.dtype != DType::kUInt8 && desc.dtype != DType::kInt16) return false;
  if (desc.quantization->zero_points.size() > 1 || !(desc.quantization->scales[0] > 0.0f)) return false;
  if (desc.quantization->zero_points.empty()) return true;
  const int64_t zero_point = desc.quantization->zero_points[0];
  return zero_point >= std::numeric_limits<int16_t>::min() && zero_point <= std::numeric_limits<int16_t>::max();
}

bool StandsForIntegers(const TensorDesc& weights) {
  const std::optional<Quantization>& grid = weights.quantization;
  return grid && grid->blocks == nullptr && std::ranges::all_of(grid->scales, [](float scale) { return scale == 1; });
}

TensorDesc HeldAs(const TensorDesc& desc) {
  return IsHeldAsFloats(desc) ? TensorDesc{DType::kFloat32, desc.shape, std::nullopt} : desc;
}

void ToFloats(const TensorDesc& desc, std::span<const std::byte> stored, std::span<float> floats) {
  WithType(desc.dtype, [&](auto type) { Read<decltype(type)>(GridOf(desc), stored.data(), floats); });
}

void ToStored(const TensorDesc& desc, std::span<const float> floats, std::span<std::byte> stored) {
  WithType(desc.dtype, [&](auto type) { Write<decltype(type)>(GridOf(desc), floats, stored.data()); });
}

void RoundToGrid(const TensorDesc& desc, std::span<float> floats) {
  Round(GridOf(desc), floats);
}

}  // namespace hearth
