// Matrix times vector for each row of the input, plus bias.
#ifndef HEARTH_CORE_OPS_FULLY_CONNECTED_H_
#define HEARTH_CORE_OPS_FULLY_CONNECTED_H_

#include "core/op_table.h"

namespace hearth {

Status InferFullyConnected(Graph& graph, const Node& node);
void ReferenceFullyConnected(const Node& node, std::span<const ReferenceTensor* const> inputs,
                             std::span<ReferenceTensor> outputs);
std::optional<std::string> FullyConnectedUnsupported(const Graph& graph, const Node& node, const DeviceInfo& device);
std::vector<KernelChoice> FullyConnectedCandidates(const Node& node, const PlanBuilder& builder);
Status LowerFullyConnected(const Node& node, PlanBuilder& builder);

}  // namespace hearth

#endif  // HEARTH_CORE_OPS_FULLY_CONNECTED_H_
