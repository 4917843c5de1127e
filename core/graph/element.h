// Single elements of dense tensors: counting them safely, and reading and writing stored numbers.
#ifndef HEARTH_CORE_GRAPH_ELEMENT_H_
#define HEARTH_CORE_GRAPH_ELEMENT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/graph/types.h"

namespace hearth {

// No tensor may have more elements: sizes in bytes then fit into 64 bits with room to spare.
inline constexpr int64_t kMaxElementCount = int64_t{1} << 40;

// The number of elements of any shape, or nothing for a negative dimension or more than kMaxElementCount.
std::optional<int64_t> CheckedElementCount(const Shape& shape);

// The stored number at `index` (quantization not applied). int4 is signed, low nibble first.
// Precondition: `bytes` holds more than `index` elements.
double LoadElement(DType dtype, std::span<const std::byte> bytes, int64_t index);

// The integer nearest towards zero that 64 bits hold; 0 for NaN.
int64_t ToInt64(double number);

// What an integer of this type holds of `number`: its low bits, as two's complement where the type has a sign; for bool
// whether it is not zero. Precondition: an integer type or bool.
int64_t WrapInteger(DType dtype, int64_t number);

// Integers are rounded half away from zero and clamped to the type's range; NaN becomes 0.
void StoreElement(DType dtype, std::span<std::byte> bytes, int64_t index, double number);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_ELEMENT_H_
