#include "backends/cpu/host/quantized.h"

#include <algorithm>
#include <limits>

#include "backends/cpu/host/vectorized.h"
#include "core/graph/element.h"
#include "core/graph/quantize.h"

namespace hearth {
namespace {

// The loops have copies of what they read, because what they store might be that: they would not vectorize.
template <typename T>
void Read(const TensorGrid& grid, const std::byte* stored, std::span<float> floats) {
  Vectorized<VectorSet::kAvx2>([&]() HEARTH_INTO_CALLER {
    const auto zero_point = static_cast<int32_t>(grid.zero_point);  // 32 bits, so that the loop vectorizes
    const float scale = grid.scale;
    const T* const from = reinterpret_cast<const T*>(stored);
    float* const to = floats.data();
    const size_t count = floats.size();
    HEARTH_INDEPENDENT for (size_t i = 0; i < count; ++i) to[i] = static_cast<float>(from[i] - zero_point) * scale;
  });
}

template <typename T>
void Write(const TensorGrid& of_tensor, std::span<const float> floats, std::byte* stored) {
  Vectorized<VectorSet::kAvx2>([&]() HEARTH_INTO_CALLER {
    const TensorGrid grid = of_tensor;
    const auto zero_point = static_cast<int32_t>(grid.zero_point);
    const float* const from = floats.data();
    T* const to = reinterpret_cast<T*>(stored);
    const size_t count = floats.size();
    HEARTH_INDEPENDENT for (size_t i = 0; i < count; ++i) to[i] = static_cast<T>(StepsOf(from[i], grid) + zero_point);
  });
}

void Round(const TensorGrid& of_tensor, std::span<float> floats) {
  Vectorized<VectorSet::kAvx2>([&]() HEARTH_INTO_CALLER {
    const TensorGrid grid = of_tensor;
    float* const reals = floats.data();
    const size_t count = floats.size();
    HEARTH_INDEPENDENT for (size_t i = 0; i < count; ++i) reals[i] =
        static_cast<float>(StepsOf(reals[i], grid)) * grid.scale;
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
