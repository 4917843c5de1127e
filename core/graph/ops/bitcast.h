// The bits of one type read as another.
#ifndef HEARTH_CORE_GRAPH_OPS_BITCAST_H_
#define HEARTH_CORE_GRAPH_OPS_BITCAST_H_

#include "core/graph/op_def.h"

namespace hearth {

Status InferBitcast(Graph& graph, const Node& node);
void ReferenceBitcast(const Node& node, std::span<const ReferenceTensor* const> inputs,
                      std::span<ReferenceTensor> outputs);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_OPS_BITCAST_H_
