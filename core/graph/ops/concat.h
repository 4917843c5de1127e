// Joining tensors along one axis.
#ifndef HEARTH_CORE_GRAPH_OPS_CONCAT_H_
#define HEARTH_CORE_GRAPH_OPS_CONCAT_H_

#include "core/graph/op_def.h"

namespace hearth {

Status InferConcat(Graph& graph, const Node& node);
void ReferenceConcat(const Node& node, std::span<const ReferenceTensor* const> inputs,
                     std::span<ReferenceTensor> outputs);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_OPS_CONCAT_H_
