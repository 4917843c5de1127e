// numpy broadcasting: shapes are aligned at the last dimension, and a dimension of 1 repeats.
#ifndef HEARTH_CORE_GRAPH_OPS_BROADCAST_H_
#define HEARTH_CORE_GRAPH_OPS_BROADCAST_H_

#include <array>
#include <cstdint>

#include "core/graph/ops/node_inference.h"

namespace hearth {

// Sets output 0 to the shape that inputs 0 to `inputs` - 1 broadcast to.
Status SetBroadcastOutput(const NodeInference& inference, size_t inputs);

// Walks over a tensor that is broadcast to `out`, row by row of `out`'s last dimension: at() is the element for the
// first one of the row, and step() is how far the next one is.
class BroadcastCursor {
 public:
  // Precondition: `operand` broadcasts to `out`.
  BroadcastCursor(const Shape& operand, const Shape& out);

  int64_t at() const { return at_; }
  int64_t step() const { return step_; }
  size_t row() const { return row_; }  // elements of a row; 1 in a scalar
  void NextRow();

 private:
  Shape out_;
  std::array<int64_t, Shape::kMaxRank> strides_{};  // for one step along each dimension of `out`; 0 repeats
  std::array<int32_t, Shape::kMaxRank> position_{};
  int64_t at_ = 0, step_ = 0;
  size_t row_ = 1;
};

// The leading dimensions of `a`, `b` and their product, aligned at the end; 1 where a shape has none.
struct MatrixBatch {
  static constexpr int kDims = 3;
  explicit MatrixBatch(const Shape& shape);
  std::array<int32_t, kDims> sizes = {1, 1, 1};
  // The number of matrices from one index to the next of each dimension; 0 where the dimension is 1.
  std::array<int64_t, kDims> Steps() const;
};

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_OPS_BROADCAST_H_
