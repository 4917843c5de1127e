#include "core/graph/ops/broadcast.h"

#include <algorithm>

namespace hearth {
namespace {

// Dimension `i`, counted from the left of a shape of `rank` >= shape.rank(), padded with ones on the left.
int32_t DimOf(const Shape& shape, int rank, int i) {
  const int own = i - (rank - shape.rank());
  return own < 0 ? 1 : shape[own];
}

}  // namespace

Status SetBroadcastOutput(const NodeInference& inference, size_t inputs) {
  int rank = 0;
  for (size_t k = 0; k < inputs; ++k) rank = std::max(rank, inference.shape(k).rank());
  std::array<int64_t, Shape::kMaxRank> dims{};
  dims.fill(1);
  for (size_t k = 0; k < inputs; ++k) {
    for (int i = 0; i < rank; ++i) {
      const int32_t dim = DimOf(inference.shape(k), rank, i);
      if (dim == dims[i] || dim == 1) continue;
      if (dims[i] != 1) {
        return inference.Fail(StatusCode::kMalformedInput, "the inputs' shapes {} and {} can't be broadcast together",
                              inference.shape(0).ToString(), inference.shape(k).ToString());
      }
      dims[i] = dim;
    }
  }
  return inference.SetOutput(0, std::span<const int64_t>(dims.data(), static_cast<size_t>(rank)));
}

BroadcastCursor::BroadcastCursor(const Shape& operand, const Shape& out) : out_(out) {
  int64_t stride = 1;
  for (int i = out.rank() - 1; i >= 0; --i) {
    const int32_t dim = DimOf(operand, out.rank(), i);
    strides_[i] = dim == 1 ? 0 : stride;
    stride *= dim;
  }
}

void BroadcastCursor::Next() {
  for (int i = out_.rank() - 1; i >= 0; --i) {  // adds one with carry
    at_ += strides_[i];
    if (++position_[i] < out_[i]) return;
    at_ -= strides_[i] * out_[i];
    position_[i] = 0;
  }
}

}  // namespace hearth
