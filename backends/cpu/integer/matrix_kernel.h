// Matrix products of 8-bit numbers in machine code.
#ifndef HEARTH_BACKENDS_CPU_INTEGER_MATRIX_KERNEL_H_
#define HEARTH_BACKENDS_CPU_INTEGER_MATRIX_KERNEL_H_

#include <cstdint>
#include <vector>

#include "backends/cpu/integer/layer.h"
#include "backends/cpu/integer/matrix_task.h"

namespace hearth {

IntegerSet BestIntegerSet();  // of this machine; with kNone layers run in floats

// Weights as the kernels want them, and what becomes of their sums.
struct PackedMatrix {
  std::vector<int8_t> weights;
  Requantization terms;
  int32_t row_factor = 0;  // one for all channels, instead of terms.row_factors

  uint64_t bytes() const { return weights.size() + terms.bytes(); }
  bool needs_row_sums() const { return row_factor != 0 || !terms.row_factors.empty(); }
};
// Of few rows each weight is used so seldom that turning it costs more than it brings: it is read where the model has
// it. Such a matrix holds no weights.
enum class WeightsPlace : uint8_t { kPacked, kModel };
WeightsPlace PlaceOf(const IntegerWeights& weights, int64_t row_count);
// piece_depth: of each of the pieces that rows lie in; packed, each begins with a step of its own.
PackedMatrix PackMatrix(const IntegerLayer& layer, const IntegerWeights& weights, WeightsPlace place,
                        int32_t piece_depth);

// Rows times blocks of weights, requantized.
void MultiplyRows(const MatrixTask& task, IntegerSet set);

// Of the bytes of each row, as they are multiplied; times `factor`.
void SumRows(const MatrixTask& task, int32_t factor, int32_t* sums, IntegerSet set);

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_INTEGER_MATRIX_KERNEL_H_
