#include "core/graph/element.h"

#include <algorithm>

namespace hearth {
namespace {

void StoreInt4(std::byte* bytes, int64_t index, double number) {
  const int clamped = std::clamp<int>(Saturate<int8_t>(number), -8, 7);
  const int pair = std::to_integer<int>(bytes[index / 2]);
  const int nibble = clamped & 15;
  bytes[index / 2] = static_cast<std::byte>(index % 2 == 0 ? (pair & 0xf0) | nibble : (pair & 0x0f) | (nibble << 4));
}

// Calls use(store), where store(bytes, index, number) rounds the number to the type; as WithLoad.
template <typename Use>
void WithStore(DType dtype, const Use& use) {
  const auto as = [&]<typename T>(T) {
    use([](std::byte* b, int64_t i, double number) { StoreAt(b, i, Saturate<T>(number)); });
  };
  switch (dtype) {
    case DType::kFloat32:
      return use([](std::byte* b, int64_t i, double number) { StoreAt(b, i, static_cast<float>(number)); });
    case DType::kFloat16:
      return use([](std::byte* b, int64_t i, double n) { StoreAt(b, i, FloatToHalf(static_cast<float>(n))); });
    case DType::kBool:
      return use([](std::byte* b, int64_t i, double n) { StoreAt(b, i, static_cast<uint8_t>(n != 0.0)); });
    case DType::kInt4: return use([](std::byte* b, int64_t i, double number) { StoreInt4(b, i, number); });
    case DType::kFloat64: return use([](std::byte* b, int64_t i, double number) { StoreAt(b, i, number); });
    case DType::kInt32: return as(int32_t{});
    case DType::kUInt8: return as(uint8_t{});
    case DType::kInt64: return as(int64_t{});
    case DType::kInt16: return as(int16_t{});
    case DType::kInt8: return as(int8_t{});
    case DType::kUInt16: return as(uint16_t{});
    case DType::kUInt32: return as(uint32_t{});
    case DType::kUInt64: return as(uint64_t{});
  }
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

void LoadElements(DType dtype, std::span<const std::byte> bytes, std::span<double> numbers) {
  WithLoad(dtype, [&](const auto& load) {
    for (size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = static_cast<double>(load(bytes.data(), static_cast<int64_t>(i)));
  });
}

void StoreElement(DType dtype, std::span<std::byte> bytes, int64_t index, double number) {
  WithStore(dtype, [&](const auto& store) { store(bytes.data(), index, number); });
}

bool AreStored(DType dtype, std::span<const double> numbers) {
  const auto as = [&]<typename T>(T) {
    return std::ranges::all_of(numbers,
                               [](double number) { return static_cast<double>(Saturate<T>(number)) == number; });
  };
  switch (dtype) {
    case DType::kBool: return std::ranges::all_of(numbers, [](double n) { return n == 0.0 || n == 1.0; });
    case DType::kInt32: return as(int32_t{});
    case DType::kInt64: return as(int64_t{});
    default: return false;
  }
}

void StoreElements(DType dtype, std::span<const double> numbers, std::span<std::byte> bytes) {
  WithStore(dtype, [&](const auto& store) {
    for (size_t i = 0; i < numbers.size(); ++i) store(bytes.data(), static_cast<int64_t>(i), numbers[i]);
  });
}

}  // namespace hearth
