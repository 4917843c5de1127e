// Dot products with weights as the model has them.
#ifndef HEARTH_BACKENDS_CPU_NODES_STORED_PRODUCT_H_
#define HEARTH_BACKENDS_CPU_NODES_STORED_PRODUCT_H_

#include <cstddef>
#include <cstdint>

namespace hearth {

// Products are added to this many sums in turn.
inline constexpr int64_t kDotSums = 32;

// A scale and a zero point for each `steps` times kDotSums weights of a column.
struct ColumnBlocks {
  const float *scales = nullptr, *zeros = nullptr;
  int64_t steps = 0;
};

// Of `depth` floats, behind which zeros fill up a multiple of kDotSums, and as many weights.
using Dot = float (*)(const float* x, const std::byte* weights, int64_t depth, const ColumnBlocks& blocks);

// With int8 weights without blocks; null if this processor has no AVX2.
Dot SignedByteDot();

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_NODES_STORED_PRODUCT_H_
