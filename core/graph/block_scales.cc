#include "core/graph/block_scales.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/graph/element.h"

namespace hearth {

BlockScales::Grid BlockScales::At(int64_t row, int64_t block) const {
  const auto load = [&](const Numbers& numbers) {
    return LoadElement(numbers.dtype, numbers.bytes, numbers.At(row, block));
  };
  Grid grid{load(scales), static_cast<double>(zero)};
  if (zeros.bytes.empty()) return grid;
  grid.zero = zeros.dtype == DType::kInt4 ? Unsigned(load(zeros)) : load(zeros);
  return grid;
}

bool operator==(const BlockScales::Numbers& a, const BlockScales::Numbers& b) {
  return a.dtype == b.dtype && a.row_step == b.row_step && a.block_step == b.block_step && a.source == b.source &&
         (a.source || std::ranges::equal(a.bytes, b.bytes));
}

bool operator==(const Quantization& a, const Quantization& b) {
  const bool has_same_blocks = a.blocks == b.blocks || (a.blocks && b.blocks && *a.blocks == *b.blocks);
  return a.scales == b.scales && a.zero_points == b.zero_points && a.dimension == b.dimension && has_same_blocks;
}

Status CheckBlocks(const BlockScales& blocks, const TensorDesc& desc) {
  constexpr int64_t kMost = int64_t{1} << 40;
  const int rank = desc.shape.rank();
  const int64_t length = rank == 0 ? 0 : desc.shape[rank - 1], count = desc.shape.element_count();
  const bool has_type = desc.dtype == DType::kInt4 || desc.dtype == DType::kInt8 || desc.dtype == DType::kUInt8;
  const auto has_all = [&](const BlockScales::Numbers& numbers) {
    const int64_t last_row = count / length - 1, last_block = (length - 1) / blocks.size;
    const auto is_below = [](int64_t step, int64_t steps) {
      return step >= 0 && step <= kMost / std::max<int64_t>(1, steps);
    };
    return is_below(numbers.row_step, last_row) && is_below(numbers.block_step, last_block) &&
           (numbers.At(last_row, last_block) + 1) * BitsOf(numbers.dtype) <= 8 * ssize(numbers.bytes);
  };
  if (!has_type || blocks.size < 1 ||
      (count > 0 && !(has_all(blocks.scales) && (blocks.zeros.bytes.empty() || has_all(blocks.zeros))))) {
    return Error(StatusCode::kMalformedInput, "{} scales and {} zero points for blocks of {} of {}",
                 blocks.scales.bytes.size(), blocks.zeros.bytes.size(), blocks.size, desc.shape);
  }
  return Status::Ok();
}

}  // namespace hearth
