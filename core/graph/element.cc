#include "core/graph/element.h"

#include <algorithm>

namespace hearth {
namespace {

template <typename T>
void Store(std::span<std::byte> bytes, int64_t index, T stored) {
  StoreAt(bytes.data(), index, stored);
}

void StoreInt4(std::span<std::byte> bytes, int64_t index, double number) {
  const int clamped = std::clamp<int>(Saturate<int8_t>(number), -8, 7);
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
    // Dimensions after a zero are checked too: their product must fit without it.
    if (dim > 0 && count > kMaxElementCount / dim) return std::nullopt;
    if (dim > 0) count *= dim;
  }
  return zero ? 0 : count;
}

double LoadElement(DType dtype, std::span<const std::byte> bytes, int64_t index) {
  return WithLoad(dtype, [&](const auto& load) { return static_cast<double>(load(bytes.data(), index)); });
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
    case DType::kUInt16: return static_cast<uint16_t>(number);
    case DType::kUInt32: return static_cast<uint32_t>(number);
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
    case DType::kUInt16: return Store(bytes, index, Saturate<uint16_t>(number));
    case DType::kUInt32: return Store(bytes, index, Saturate<uint32_t>(number));
    case DType::kFloat64: return Store(bytes, index, number);
    case DType::kUInt64: return Store(bytes, index, Saturate<uint64_t>(number));
  }
}

}  // namespace hearth
