// Scales of blocks: weights of language models have one for each 32 numbers of a row, or so.
#ifndef HEARTH_CORE_GRAPH_BLOCK_SCALES_H_
#define HEARTH_CORE_GRAPH_BLOCK_SCALES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/graph/types.h"
#include "hearth/status.h"

namespace hearth {

// real = scale * (stored - zero), for each `size` numbers of a row, the last dimension. A row's last block may be
// shorter. Only constants that FULLY_CONNECTED multiplies with have these.
struct BlockScales {
  // One for each block, row by row, where the model has them: they are up to a quarter of the weights' bytes.
  struct Numbers {
    DType dtype = DType::kFloat32;
    std::span<const std::byte> bytes;
    int64_t row_step = 0, block_step = 1;  // numbers from one of a row, or of a block, to that of the next
    std::optional<FileRange> source = {};  // where a model's file has `bytes`
    std::shared_ptr<const std::vector<std::byte>> own = {};  // what `bytes` are of otherwise

    int64_t At(int64_t row, int64_t block) const { return row * row_step + block * block_step; }
    friend bool operator==(const Numbers& a, const Numbers& b);
  };
  struct Grid {
    double scale = 1, zero = 0;
  };

  int32_t size = 0;
  Numbers scales, zeros;  // where there are no zeros, `zero` is that of all blocks
  int32_t zero = 0;
  bool has_unsigned_nibbles = false;  // stored numbers and zeros of type kInt4 are 0 to 15

  Grid At(int64_t row, int64_t block) const;
  // What was stored at place `k` of a row, as a real number.
  double ToReal(double stored, int64_t row, int64_t k) const {
    const Grid grid = At(row, k / size);
    return (Unsigned(stored) - grid.zero) * grid.scale;
  }
  // Of a number that was loaded as its type says.
  double Unsigned(double number) const { return has_unsigned_nibbles && number < 0 ? number + 16 : number; }
  friend bool operator==(const BlockScales&, const BlockScales&) = default;
};

// kMalformedInput unless there are a scale and, if any, a zero point for each block of such a tensor.
Status CheckBlocks(const BlockScales& blocks, const TensorDesc& desc);

// Row by row: a copy of these bytes.
inline BlockScales::Numbers NumbersOfOwn(DType dtype, std::span<const std::byte> bytes, int64_t row_step) {
  const auto own = std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end());
  return {dtype, *own, row_step, 1, std::nullopt, own};
}

inline Quantization GridOf(BlockScales blocks) {
  return {.scales = {}, .zero_points = {}, .blocks = std::make_shared<const BlockScales>(std::move(blocks))};
}
// Null where there are none.
inline const BlockScales* BlocksOf(const TensorDesc& desc) {
  return desc.quantization ? desc.quantization->blocks.get() : nullptr;
}

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_BLOCK_SCALES_H_
