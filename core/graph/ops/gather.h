// Lookups by index: GATHER (also EMBEDDING_LOOKUP), GATHER_ND, and the inverse ONE_HOT. An index out of range, which
// TFLite refuses, is clamped; one-hot sets no element for it.
#ifndef HEARTH_CORE_GRAPH_OPS_GATHER_H_
#define HEARTH_CORE_GRAPH_OPS_GATHER_H_

#include "core/graph/op_def.h"

namespace hearth {

Status InferGather(Graph& graph, const Node& node);
void ReferenceGather(const Node& node, std::span<const ReferenceTensor* const> inputs,
                     std::span<ReferenceTensor> outputs);

Status InferGatherNd(Graph& graph, const Node& node);
void ReferenceGatherNd(const Node& node, std::span<const ReferenceTensor* const> inputs,
                       std::span<ReferenceTensor> outputs);

Status InferOneHot(Graph& graph, const Node& node);
void ReferenceOneHot(const Node& node, std::span<const ReferenceTensor* const> inputs,
                     std::span<ReferenceTensor> outputs);

// x as [batches, outer, length, inner], indices as [batches, count], the result as [batches, outer, count, inner].
// Precondition: InferGather passed.
struct GatherSplit {
  int64_t batches = 1, outer = 1, length = 1, inner = 1, count = 1;
  bool over_last = false;  // the axis is the last dimension
};
GatherSplit SplitGather(const Gather& gather, const Shape& x, const Shape& indices);

// Elements before and behind a one-hot dimension. Precondition: InferOneHot passed.
struct OneHotSplit {
  int64_t prefix = 1, suffix = 1;
};
OneHotSplit SplitOneHot(const OneHot& one_hot, const Shape& indices);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_OPS_GATHER_H_
