// Matrix times vector for each row of the input, plus bias.
#ifndef HEARTH_CORE_GRAPH_OPS_FULLY_CONNECTED_H_
#define HEARTH_CORE_GRAPH_OPS_FULLY_CONNECTED_H_

#include "core/graph/op_def.h"

namespace hearth {

Status InferFullyConnected(Graph& graph, const Node& node);
void ReferenceFullyConnected(const Node& node, std::span<const ReferenceTensor* const> inputs,
                             std::span<ReferenceTensor> outputs);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_OPS_FULLY_CONNECTED_H_
