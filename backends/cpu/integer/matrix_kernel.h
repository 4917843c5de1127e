// Matrix products of 8-bit numbers, for each instruction set.
#ifndef HEARTH_BACKENDS_CPU_INTEGER_MATRIX_KERNEL_H_
#define HEARTH_BACKENDS_CPU_INTEGER_MATRIX_KERNEL_H_

#include <cstdint>
#include <vector>

#include "backends/cpu/integer/layer.h"
#include "backends/cpu/integer/matrix_task.h"

namespace hearth {

IntegerSet BestIntegerSet();  // of this machine; with kNone layers with weights run in floats

// Weights in the kernels' order, and the requantization of their sums.
struct PackedMatrix {
  std::vector<int8_t> weights;
  Requantization terms;
  int32_t row_factor = 0;  // one for all channels, instead of terms.row_factors

  uint64_t bytes() const { return weights.size() + terms.bytes(); }
  bool needs_row_sums() const { return row_factor != 0 || !terms.row_factors.empty(); }
};
// With few rows, each weight is used so rarely that packing costs more than it saves. Then weights are read in place in
// the model, and the matrix has no packed weights.
enum class WeightsPlace : uint8_t { kPacked, kModel };
WeightsPlace PlaceOf(const IntegerWeights& weights, int64_t row_count);
// piece_depth: the depth of each piece of a row. Each packed piece starts at a new step.
PackedMatrix PackMatrix(const IntegerLayer& layer, const IntegerWeights& weights, WeightsPlace place,
                        int32_t piece_depth, IntegerSet set);

// The size of task.wide. Only the task's depth, stride and numbers of rows and pieces are read.
int64_t WideNumbers(const MatrixTask& task, IntegerSet set);
// Rows times blocks of weights, requantized.
void MultiplyRows(const MatrixTask& task, IntegerSet set);
// The same for tasks with model_weights, which are read in place along the depth (model_weights_kernel.cc).
void MultiplyByModelWeights(const MatrixTask& task, IntegerSet set);

// The sum of each row's bytes, in the form in which they are multiplied, times `factor`.
void SumRows(const MatrixTask& task, int32_t factor, int32_t* sums, IntegerSet set);

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_INTEGER_MATRIX_KERNEL_H_
