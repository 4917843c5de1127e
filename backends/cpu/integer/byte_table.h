// Functions of one 8-bit number: a table of 256.
#ifndef HEARTH_BACKENDS_CPU_INTEGER_BYTE_TABLE_H_
#define HEARTH_BACKENDS_CPU_INTEGER_BYTE_TABLE_H_

#include <array>
#include <cstdint>

#include "core/graph/op.h"
#include "core/graph/types.h"

namespace hearth {

using ByteTable = std::array<uint8_t, 256>;

// A table from each stored byte of `in` to the stored byte of the function's result in `out`, rounded like the float64
// reference.
ByteTable TableOf(const TensorDesc& in, const TensorDesc& out, const Unary& function);

void ApplyTable(const ByteTable& table, const uint8_t* x, uint8_t* y, int64_t count);

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_INTEGER_BYTE_TABLE_H_
