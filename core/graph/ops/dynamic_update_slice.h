// Replacing part of a tensor at a place that is known at run time only.
#ifndef HEARTH_CORE_GRAPH_OPS_DYNAMIC_UPDATE_SLICE_H_
#define HEARTH_CORE_GRAPH_OPS_DYNAMIC_UPDATE_SLICE_H_

#include "core/graph/op_def.h"

namespace hearth {

Status InferDynamicUpdateSlice(Graph& graph, const Node& node);
void ReferenceDynamicUpdateSlice(const Node& node, std::span<const ReferenceTensor* const> inputs,
                                 std::span<ReferenceTensor> outputs);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_OPS_DYNAMIC_UPDATE_SLICE_H_
