// The same elements in another shape.
#ifndef HEARTH_CORE_GRAPH_OPS_RESHAPE_H_
#define HEARTH_CORE_GRAPH_OPS_RESHAPE_H_

#include "core/graph/op_def.h"

namespace hearth {

Status InferReshape(Graph& graph, const Node& node);
void ReferenceReshape(const Node& node, std::span<const ReferenceTensor* const> inputs,
                      std::span<ReferenceTensor> outputs);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_OPS_RESHAPE_H_
