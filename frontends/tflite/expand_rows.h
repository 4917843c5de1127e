// Moves rows of a matrix to rows of another one.
#ifndef HEARTH_FRONTENDS_TFLITE_EXPAND_ROWS_H_
#define HEARTH_FRONTENDS_TFLITE_EXPAND_ROWS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "frontends/tflite/expansion.h"

namespace hearth {

// How rows with the same index are combined, and the content of rows without any.
struct Meeting {
  BinaryKind kind = BinaryKind::kAdd;
  double empty = 0.0;
};

// A matrix of `count` rows: row i of `rows` goes to row places[i], or nowhere if that is negative.
Result<ValueId> GatherRows(Expansion& to, ValueId rows, std::span<const int64_t> places, int64_t count,
                           const Meeting& meeting);

// The same for sums and computed `places` (a list of int32): a product with a matrix of zeros and ones. float32 only.
Result<ValueId> SumRowsByProduct(Expansion& to, ValueId rows, ValueId places, int64_t count);

// The number of elements in the dimensions from `first` on.
int64_t ElementsFrom(const Shape& shape, int first, int end = Shape::kMaxRank);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_TFLITE_EXPAND_ROWS_H_
