// Mean, sum, extremes, product, any and all over any set of dimensions.
#ifndef HEARTH_CORE_GRAPH_OPS_REDUCE_H_
#define HEARTH_CORE_GRAPH_OPS_REDUCE_H_

#include "core/graph/op_def.h"

namespace hearth {

Status InferReduce(Graph& graph, const Node& node);
void ReferenceReduce(const Node& node, std::span<const ReferenceTensor* const> inputs,
                     std::span<ReferenceTensor> outputs);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_OPS_REDUCE_H_
