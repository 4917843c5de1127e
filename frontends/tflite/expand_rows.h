// Moves rows of a matrix to rows of another one.
#ifndef HEARTH_FRONTENDS_TFLITE_EXPAND_ROWS_H_
#define HEARTH_FRONTENDS_TFLITE_EXPAND_ROWS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "frontends/tflite/expansion.h"

namespace hearth {

// How rows with the same index are combined, and what an index without rows holds.
struct Meeting {
  BinaryKind kind = BinaryKind::kAdd;
  double empty = 0.0;
};

// A matrix of `count` rows. Row i of `rows` goes to row places[i], or nowhere if places[i] is negative.
Result<ValueId> GatherRows(Expansion& to, ValueId rows, std::span<const int64_t> places, int64_t count,
                           const Meeting& meeting);

// GatherRows for sums whose `places`, a list of int32, are computed at run time: a product with a matrix of zeros and
// ones. float32 only.
Result<ValueId> SumRowsByProduct(Expansion& to, ValueId rows, ValueId places, int64_t count);

// What rows of this type without elements become: `made` filled with what indices without rows hold. Types are refused
// as GatherRows refuses them.
Result<ValueId> RowsOfNothing(Expansion& to, TensorDesc desc, const Shape& made, const Meeting& meeting);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_TFLITE_EXPAND_ROWS_H_
