// Rows of a matrix that become rows of another one.
#ifndef HEARTH_FRONTENDS_TFLITE_EXPAND_ROWS_H_
#define HEARTH_FRONTENDS_TFLITE_EXPAND_ROWS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "frontends/tflite/expansion.h"

namespace hearth {

// How rows that have one place become one, and what stands where no row has.
struct Meeting {
  BinaryKind kind = BinaryKind::kAdd;
  double empty = 0.0;
};

// A matrix of `count` rows, of which row places[i] is row i of the matrix `rows`; a negative place is none.
Result<ValueId> GatherRows(Expansion& to, ValueId rows, std::span<const int64_t> places, int64_t count,
                           const Meeting& meeting);

// The same for sums and `places` (a list of int32) that are computed: a product with a matrix of zeros and ones.
// float32 only.
Result<ValueId> SumRowsByProduct(Expansion& to, ValueId rows, ValueId places, int64_t count);

// The number of elements in the dimensions from `first` on.
int64_t ElementsFrom(const Shape& shape, int first);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_TFLITE_EXPAND_ROWS_H_
