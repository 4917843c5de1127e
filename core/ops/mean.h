// The mean over any set of dimensions.
#ifndef HEARTH_CORE_OPS_MEAN_H_
#define HEARTH_CORE_OPS_MEAN_H_

#include "core/op_table.h"

namespace hearth {

Status InferMean(Graph& graph, const Node& node);
void ReferenceMean(const Node& node, std::span<const ReferenceTensor* const> inputs,
                   std::span<ReferenceTensor> outputs);
std::optional<std::string> MeanUnsupported(const Graph& graph, const Node& node, const DeviceInfo& device);
Status LowerMean(const Node& node, PlanBuilder& builder);

}  // namespace hearth

#endif  // HEARTH_CORE_OPS_MEAN_H_
