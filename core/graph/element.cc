#include "core/graph/element.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "core/base/float16.h"

namespace hearth {
namespace {

template <typename T>
T Load(std::span<const std::byte> bytes, int64_t index) {
  T stored;
  std::memcpy(&stored, bytes.data() + index * sizeof(T), sizeof(T));
  return stored;
}

template <typename T>
void Store(std::span<std::byte> bytes, int64_t index, T stored) {
  std::memcpy(bytes.data() + index * sizeof(T), &stored, sizeof(T));
}

template <typename T>
T Saturate(double number) {
  if (std::isnan(number)) return 0;
  const double rounded = std::round(number);
  // As doubles: the largest int64 is not one, so compare with ">=".
  if (rounded <= static_cast<double>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
  if (rounded >= static_cast<double>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
  return static_cast<T>(rounded);
}

int LoadInt4(std::span<const std::byte> bytes, int64_t index) {
  const int pair = std::to_integer<int>(bytes[index / 2]);
  const int nibble = index % 2 == 0 ? pair & 15 : pair >> 4;
  return nibble >= 8 ? nibble - 16 : nibble;
}

void StoreInt4(std::span<std::byte> bytes, int64_t index, double number) {
  const int clamped = std::isnan(number) ? 0 : static_cast<int>(std::round(std::fmin(std::fmax(number, -8.0), 7.0)));
  const int pair = std::to_integer<int>(bytes[index / 2]);
  const int nibble = clamped & 15;
  bytes[index / 2] = static_cast<std::byte>(index % 2 == 0 ? (pair & 0xf0) | nibble : (pair & 0x0f) | (nibble << 4));
}

}  // namespace

std::optional<int64_t> CheckedElementCount(const Shape& shape) {
  int64_t count = 1;
  bool zero = false;
  for (int32_t dim : shape.dims()) {
    if (dim < 0) return std::nullopt;
    zero = zero || dim == 0;
    // Also behind a zero: the other dimensions must be sane on their own.
    if (dim > 0 && count > kMaxElementCount / dim) return std::nullopt;
    if (dim > 0) count *= dim;
  }
  return zero ? 0 : count;
}

double LoadElement(DType dtype, std::span<const std::byte> bytes, int64_t index) {
  switch (dtype) {
    case DType::kFloat32: return Load<float>(bytes, index);
    case DType::kFloat16: return HalfToFloat(Load<uint16_t>(bytes, index));
    case DType::kInt32: return Load<int32_t>(bytes, index);
    case DType::kUInt8: return Load<uint8_t>(bytes, index);
    case DType::kInt64: return static_cast<double>(Load<int64_t>(bytes, index));
    case DType::kBool: return Load<uint8_t>(bytes, index) != 0 ? 1.0 : 0.0;
    case DType::kInt16: return Load<int16_t>(bytes, index);
    case DType::kInt8: return Load<int8_t>(bytes, index);
    case DType::kInt4: return LoadInt4(bytes, index);
  }
  return 0.0;
}

int64_t ToInt64(double number) {
  if (std::isnan(number)) return 0;
  if (number >= 0x1p63) return std::numeric_limits<int64_t>::max();
  if (number < -0x1p63) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(number);
}

int64_t WrapInteger(DType dtype, int64_t number) {
  switch (dtype) {
    case DType::kInt32: return static_cast<int32_t>(number);
    case DType::kInt16: return static_cast<int16_t>(number);
    case DType::kInt8: return static_cast<int8_t>(number);
    case DType::kUInt8: return static_cast<uint8_t>(number);
    case DType::kBool: return number != 0 ? 1 : 0;
    default: return number;
  }
}

void StoreElement(DType dtype, std::span<std::byte> bytes, int64_t index, double number) {
  switch (dtype) {
    case DType::kFloat32: return Store(bytes, index, static_cast<float>(number));
    case DType::kFloat16: return Store(bytes, index, FloatToHalf(static_cast<float>(number)));
    case DType::kInt32: return Store(bytes, index, Saturate<int32_t>(number));
    case DType::kUInt8: return Store(bytes, index, Saturate<uint8_t>(number));
    case DType::kInt64: return Store(bytes, index, Saturate<int64_t>(number));
    case DType::kBool: return Store(bytes, index, static_cast<uint8_t>(number != 0.0));
    case DType::kInt16: return Store(bytes, index, Saturate<int16_t>(number));
    case DType::kInt8: return Store(bytes, index, Saturate<int8_t>(number));
    case DType::kInt4: return StoreInt4(bytes, index, number);
  }
}

}  // namespace hearth
