#include "backends/cpu/quantized.h"

#include <cstring>
#include <limits>

#include "core/storage.h"

namespace hearth {
namespace {

// real = (stored - zero_point) * scale, lowest and highest stored numbers counted from the zero point.
struct Grid {
  float scale = 1, inverse = 1;
  float lowest = 0, highest = 0;
  int32_t zero_point = 0;
};

template <typename T>
Grid GridOf(const Quantization& quantization) {
  Grid grid;
  grid.scale = quantization.scales[0];
  grid.inverse = static_cast<float>(1.0 / quantization.scales[0]);
  grid.zero_point = quantization.zero_points.empty() ? 0 : static_cast<int32_t>(quantization.zero_points[0]);
  grid.lowest = static_cast<float>(std::numeric_limits<T>::min() - grid.zero_point);
  grid.highest = static_cast<float>(std::numeric_limits<T>::max() - grid.zero_point);
  return grid;
}

// Steps from the zero point. Written so that compilers make vectors of it.
int32_t StepsOf(float real, const Grid& grid) {
  float steps = real * grid.inverse;
  steps = steps > grid.lowest ? steps : grid.lowest;
  steps = steps < grid.highest ? steps : grid.highest;
  return static_cast<int32_t>(steps + (steps < 0.0f ? -0.5f : 0.5f));
}

template <typename T>
void Read(const Grid& grid, const std::byte* stored, std::span<float> floats) {
  for (size_t i = 0; i < floats.size(); ++i) {
    T number;
    std::memcpy(&number, stored + i * sizeof(T), sizeof(T));
    floats[i] = static_cast<float>(number - grid.zero_point) * grid.scale;
  }
}

template <typename T>
void Write(const Grid& grid, std::span<const float> floats, std::byte* stored) {
  for (size_t i = 0; i < floats.size(); ++i) {
    const auto number = static_cast<T>(StepsOf(floats[i], grid) + grid.zero_point);
    std::memcpy(stored + i * sizeof(T), &number, sizeof(T));
  }
}

void Round(const Grid& grid, std::span<float> floats) {
  for (float& real : floats) real = static_cast<float>(StepsOf(real, grid)) * grid.scale;
}

// Calls visit with a number of the stored type.
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

TensorDesc HeldAs(const TensorDesc& desc) {
  return IsHeldAsFloats(desc) ? TensorDesc{DType::kFloat32, desc.shape, std::nullopt} : desc;
}

void ToFloats(const TensorDesc& desc, std::span<const std::byte> stored, std::span<float> floats) {
  WithType(desc.dtype,
           [&](auto type) { Read<decltype(type)>(GridOf<decltype(type)>(*desc.quantization), stored.data(), floats); });
}

void ToStored(const TensorDesc& desc, std::span<const float> floats, std::span<std::byte> stored) {
  WithType(desc.dtype, [&](auto type) {
    Write<decltype(type)>(GridOf<decltype(type)>(*desc.quantization), floats, stored.data());
  });
}

void RoundToGrid(const TensorDesc& desc, std::span<float> floats) {
  WithType(desc.dtype, [&](auto type) { Round(GridOf<decltype(type)>(*desc.quantization), floats); });
}

}  // namespace hearth
