// Matrix products of 8-bit numbers in machine code.
#ifndef HEARTH_BACKENDS_CPU_INTEGER_MATRIX_KERNEL_H_
#define HEARTH_BACKENDS_CPU_INTEGER_MATRIX_KERNEL_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/cpu/integer/layer.h"

namespace hearth {

// Instructions that integer kernels are written for.
enum class IntegerSet : uint8_t { kNone, kAvx2, kVnni };
IntegerSet BestIntegerSet();  // of this machine; with kNone layers run in floats

// Weights lie in blocks of 16 channels: for each four of the depth, four numbers of each channel.
inline constexpr int32_t kBlockChannels = 16, kDepthStep = 4;
inline constexpr int64_t kBlockStepBytes = kBlockChannels * kDepthStep;

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
PackedMatrix PackMatrix(const IntegerLayer& layer, const IntegerWeights& weights, WeightsPlace place);

// Rows times blocks of weights, requantized. A row may be read up to three bytes past its depth, where weights are 0.
struct MatrixTask {
  const uint8_t* rows = nullptr;
  int64_t row_stride = 0, row_count = 0;
  bool flips_sign = false;  // of the rows' bytes
  // Of the rows' bytes as they are multiplied; added times terms->row_factors, or as they are where there are none.
  const int32_t* row_sums = nullptr;
  const int8_t* weights = nullptr;
  int64_t depth_steps = 0;
  // Instead of `weights`, with PlaceOf kModel: `depth` of them for each channel.
  const std::byte* model_weights = nullptr;
  int64_t depth = 0;
  bool flips_weights = false;
  int32_t first_block = 0, end_block = 0, channels = 0;  // channels: of all blocks
  const Requantization* terms = nullptr;
  uint8_t* out = nullptr;  // channel 0 of the first row
  int64_t out_stride = 0;
};
void MultiplyRows(const MatrixTask& task, IntegerSet set);

// Of `depth` bytes of each row, as they are multiplied; times `factor`.
void SumRows(const MatrixTask& task, int64_t depth, int32_t factor, int32_t* sums, IntegerSet set);

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_INTEGER_MATRIX_KERNEL_H_
