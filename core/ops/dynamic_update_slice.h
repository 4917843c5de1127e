// Replacing part of a tensor at a place that is known at run time only.
#ifndef HEARTH_CORE_OPS_DYNAMIC_UPDATE_SLICE_H_
#define HEARTH_CORE_OPS_DYNAMIC_UPDATE_SLICE_H_

#include "core/op_table.h"

namespace hearth {

Status InferDynamicUpdateSlice(Graph& graph, const Node& node);
void ReferenceDynamicUpdateSlice(const Node& node, std::span<const ReferenceTensor* const> inputs,
                                 std::span<ReferenceTensor> outputs);
std::optional<std::string> DynamicUpdateSliceUnsupported(const Graph& graph, const Node& node,
                                                         const DeviceInfo& device);
Status LowerDynamicUpdateSlice(const Node& node, PlanBuilder& builder);

}  // namespace hearth

#endif  // HEARTH_CORE_OPS_DYNAMIC_UPDATE_SLICE_H_
