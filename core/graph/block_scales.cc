#include "core/graph/block_scales.h"

#include "core/graph/element.h"

namespace hearth {

BlockScales::Grid BlockScales::At(int64_t row, int64_t block) const {
  const auto load = [&](const Numbers& numbers) {
    return LoadElement(numbers.dtype, numbers.bytes, row * numbers.row_step + block);
  };
  Grid grid{load(scales), static_cast<double>(zero)};
  if (zeros.bytes.empty()) return grid;
  grid.zero = zeros.dtype == DType::kInt4 ? Unsigned(load(zeros)) : load(zeros);
  return grid;
}

}  // namespace hearth
