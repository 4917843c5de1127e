// The arguments of a product of 8-bit matrices.
#ifndef HEARTH_BACKENDS_CPU_INTEGER_MATRIX_TASK_H_
#define HEARTH_BACKENDS_CPU_INTEGER_MATRIX_TASK_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "backends/cpu/integer/layer.h"
#include "core/base/numbers.h"

namespace hearth {

// Instruction sets with integer kernels.
enum class IntegerSet : uint8_t { kNone, kAvx2, kVnni };

// Weights are stored in blocks of 16 channels. kVnni: four numbers of each channel for every four elements of the
// depth. kAvx2: two for every two.
inline constexpr int32_t kBlockChannels = 16, kDepthStep = 4;
inline constexpr int64_t kBlockStepBytes = kBlockChannels * kDepthStep;

// Rows times blocks of weights. A piece of a row may be read up to three bytes past its end, where weights are 0.
struct MatrixTask {
  std::span<const uint8_t* const> pieces;  // of the first row: one, or the lines of a window in place
  int64_t row_stride = 0, row_count = 0;
  int64_t depth = 0;        // of a piece
  bool flips_sign = false;  // of the rows' bytes
  // Sums of the rows' bytes in the form in which they are multiplied. They are added times terms->row_factors, or
  // unscaled without these.
  const int32_t* row_sums = nullptr;
  const int8_t* weights = nullptr;
  // Used instead of `weights` with WeightsPlace::kModel and rows of one piece: `depth` weights for each channel.
  const std::byte* model_weights = nullptr;
  bool flips_weights = false;
  int32_t first_block = 0, end_block = 0, channels = 0;  // channels: of all blocks
  const Requantization* terms = nullptr;
  uint8_t* out = nullptr;   // channel 0 of the first row
  int32_t* sums = nullptr;  // instead of `out`: the sums, with their offsets
  float* reals = nullptr;   // with model_weights, instead of `out`: the same times multipliers
  int64_t out_stride = 0;
  int16_t* wide = nullptr;  // kAvx2: room for the rows in 16 bits, WideNumbers() of them

  int64_t depth_steps() const { return Tiles(depth, kDepthStep); }  // of a piece
  int64_t block_bytes() const { return static_cast<int64_t>(pieces.size()) * depth_steps() * kBlockStepBytes; }
};

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_INTEGER_MATRIX_TASK_H_
