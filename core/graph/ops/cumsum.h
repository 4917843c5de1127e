// Running sums along one dimension.
#ifndef HEARTH_CORE_GRAPH_OPS_CUMSUM_H_
#define HEARTH_CORE_GRAPH_OPS_CUMSUM_H_

#include "core/graph/op_def.h"

namespace hearth {

Status InferCumSum(Graph& graph, const Node& node);
void ReferenceCumSum(const Node& node, std::span<const ReferenceTensor* const> inputs,
                     std::span<ReferenceTensor> outputs);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_OPS_CUMSUM_H_
