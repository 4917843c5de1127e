// Running sums along one dimension.
#ifndef HEARTH_CORE_OPS_CUMSUM_H_
#define HEARTH_CORE_OPS_CUMSUM_H_

#include "core/op_table.h"

namespace hearth {

Status InferCumSum(Graph& graph, const Node& node);
void ReferenceCumSum(const Node& node, std::span<const ReferenceTensor* const> inputs,
                     std::span<ReferenceTensor> outputs);
std::optional<std::string> CumSumUnsupported(const Graph& graph, const Node& node, const DeviceInfo& device);
Status LowerCumSum(const Node& node, PlanBuilder& builder);

}  // namespace hearth

#endif  // HEARTH_CORE_OPS_CUMSUM_H_
