// Conversions between element types.
#ifndef HEARTH_CORE_GRAPH_OPS_CAST_H_
#define HEARTH_CORE_GRAPH_OPS_CAST_H_

#include "core/graph/op_def.h"

namespace hearth {

Status InferCast(Graph& graph, const Node& node);
void ReferenceCast(const Node& node, std::span<const ReferenceTensor* const> inputs,
                   std::span<ReferenceTensor> outputs);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_OPS_CAST_H_
