// Single elements of dense tensors: counting them safely, and reading and writing stored numbers.
#ifndef HEARTH_CORE_GRAPH_ELEMENT_H_
#define HEARTH_CORE_GRAPH_ELEMENT_H_

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>

#include "core/base/float16.h"
#include "core/graph/types.h"

namespace hearth {

// No tensor may have more elements: sizes in bytes then fit into 64 bits with room to spare.
inline constexpr int64_t kMaxElementCount = int64_t{1} << 40;

// The number of elements of any shape, or nothing for a negative dimension or more than kMaxElementCount.
std::optional<int64_t> CheckedElementCount(const Shape& shape);

// Models and callers promise no alignment.
template <typename T>
T LoadAt(const std::byte* bytes, int64_t index) {
  T stored;
  std::memcpy(&stored, bytes + index * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return stored;
}
template <typename T>
void StoreAt(std::byte* bytes, int64_t index, T stored) {
  std::memcpy(bytes + index * static_cast<int64_t>(sizeof(T)), &stored, sizeof(T));
}

// int4 is signed, low nibble first.
inline int LoadInt4(const std::byte* bytes, int64_t index) {
  const int pair = std::to_integer<int>(bytes[index / 2]);
  const int nibble = index % 2 == 0 ? pair & 15 : pair >> 4;
  return nibble >= 8 ? nibble - 16 : nibble;
}

// Calls use(load), where load(bytes, index) gives the number stored there, for loops over many elements. `load` is an
// object, which compilers inline, not a pointer to a function.
template <typename Use>
auto WithLoad(DType dtype, const Use& use) {
  const auto as = [&]<typename T>(T) { return use([](const std::byte* b, int64_t i) { return LoadAt<T>(b, i); }); };
  switch (dtype) {
    case DType::kFloat16: return use([](const std::byte* b, int64_t i) { return HalfToFloat(LoadAt<uint16_t>(b, i)); });
    case DType::kBool: return use([](const std::byte* b, int64_t i) { return LoadAt<uint8_t>(b, i) != 0 ? 1 : 0; });
    case DType::kInt4: return use([](const std::byte* b, int64_t i) { return LoadInt4(b, i); });
    case DType::kInt32: return as(int32_t{});
    case DType::kUInt8: return as(uint8_t{});
    case DType::kInt64: return as(int64_t{});
    case DType::kInt16: return as(int16_t{});
    case DType::kInt8: return as(int8_t{});
    case DType::kUInt16: return as(uint16_t{});
    case DType::kUInt32: return as(uint32_t{});
    case DType::kFloat64: return as(double{});
    case DType::kUInt64: return as(uint64_t{});
    case DType::kFloat32: break;
  }
  return as(float{});
}

// Rounded half away from zero and clamped to T's range; NaN becomes 0.
template <typename T>
T Saturate(double number) {
  if (std::isnan(number)) return 0;
  // As doubles: the largest int64 is not one, so compare with ">=".
  if (number <= static_cast<double>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
  if (number >= static_cast<double>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
  const T whole = static_cast<T>(number);  // towards zero; std::round is a call
  const double rest = number - static_cast<double>(whole);
  return rest >= 0.5 ? static_cast<T>(whole + 1) : rest <= -0.5 ? static_cast<T>(whole - 1) : whole;
}

// The stored number at `index` (quantization not applied).
// Precondition: `bytes` holds more than `index` elements.
double LoadElement(DType dtype, std::span<const std::byte> bytes, int64_t index);

// The same for all elements of a tensor, by its element count of numbers.
void LoadElements(DType dtype, std::span<const std::byte> bytes, std::span<double> numbers);

// The integer nearest towards zero that 64 bits hold; 0 for NaN.
int64_t ToInt64(double number);

// The integer that this type stores for `number`: its low bits, as two's complement for signed types; for bool whether
// it is not zero. Precondition: an integer type or bool.
int64_t WrapInteger(DType dtype, int64_t number);

// Integers are rounded half away from zero and clamped to the type's range; NaN becomes 0.
void StoreElement(DType dtype, std::span<std::byte> bytes, int64_t index, double number);
// Whether all numbers are what the type stores: 4-bit and float16 numbers count as not.
bool AreStored(DType dtype, std::span<const double> numbers);
void StoreElements(DType dtype, std::span<const double> numbers, std::span<std::byte> bytes);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_ELEMENT_H_
