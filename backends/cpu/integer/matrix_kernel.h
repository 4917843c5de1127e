// Matrix products of 8-bit numbers in machine code.
#ifndef HEARTH_BACKENDS_CPU_INTEGER_MATRIX_KERNEL_H_
#define HEARTH_BACKENDS_CPU_INTEGER_MATRIX_KERNEL_H_

#include <cstddef>
#include <cstdint>
#include <span>
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
// piece_depth: of each of the pieces that rows lie in; packed, each begins with a step of its own.
PackedMatrix PackMatrix(const IntegerLayer& layer, const IntegerWeights& weights, WeightsPlace place,
                        int32_t piece_depth);

// Rows times blocks of weights, requantized. A piece of a row may be read up to three bytes past its end, where weights
// are 0.
struct MatrixTask {
  std::span<const uint8_t* const> pieces;  // of the first row: one, or the lines of a window where they lie
  int64_t row_stride = 0, row_count = 0;
  int64_t depth = 0;        // of a piece
  bool flips_sign = false;  // of the rows' bytes
  // Of the rows' bytes as they are multiplied; added times terms->row_factors, or as they are where there are none.
  const int32_t* row_sums = nullptr;
  const int8_t* weights = nullptr;
  // Instead of `weights`, with PlaceOf kModel and rows of one piece: `depth` of them for each channel.
  const std::byte* model_weights = nullptr;
  bool flips_weights = false;
  int32_t first_block = 0, end_block = 0, channels = 0;  // channels: of all blocks
  const Requantization* terms = nullptr;
  uint8_t* out = nullptr;  // channel 0 of the first row
  int64_t out_stride = 0;

  int64_t depth_steps() const { return (depth + kDepthStep - 1) / kDepthStep; }  // of a piece
  int64_t block_bytes() const { return static_cast<int64_t>(pieces.size()) * depth_steps() * kBlockStepBytes; }
};
void MultiplyRows(const MatrixTask& task, IntegerSet set);

// Of the bytes of each row, as they are multiplied; times `factor`.
void SumRows(const MatrixTask& task, int32_t factor, int32_t* sums, IntegerSet set);

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_INTEGER_MATRIX_KERNEL_H_
