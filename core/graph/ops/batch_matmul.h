// Products of many pairs of matrices.
#ifndef HEARTH_CORE_GRAPH_OPS_BATCH_MATMUL_H_
#define HEARTH_CORE_GRAPH_OPS_BATCH_MATMUL_H_

#include "core/graph/op_def.h"

namespace hearth {

Status InferBatchMatMul(Graph& graph, const Node& node);
void ReferenceBatchMatMul(const Node& node, std::span<const ReferenceTensor* const> inputs,
                          std::span<ReferenceTensor> outputs);

// The leading dimensions of `a`, `b` and their product, aligned at the end; 1 where a shape has none.
struct MatrixBatch {
  static constexpr int kDims = 3;
  explicit MatrixBatch(const Shape& shape);
  std::array<int32_t, kDims> sizes = {1, 1, 1};
  // The number of matrices from one index to the next of each dimension; 0 where the dimension is 1.
  std::array<int64_t, kDims> Steps() const;
};

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_OPS_BATCH_MATMUL_H_
