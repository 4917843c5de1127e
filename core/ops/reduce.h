// Mean, sum, extremes, product, any and all over any set of dimensions.
#ifndef HEARTH_CORE_OPS_REDUCE_H_
#define HEARTH_CORE_OPS_REDUCE_H_

#include "core/op_table.h"

namespace hearth {

Status InferReduce(Graph& graph, const Node& node);
void ReferenceReduce(const Node& node, std::span<const ReferenceTensor* const> inputs,
                     std::span<ReferenceTensor> outputs);
std::optional<std::string> ReduceUnsupported(const Graph& graph, const Node& node, const DeviceInfo& device);
Status LowerReduce(const Node& node, PlanBuilder& builder);

}  // namespace hearth

#endif  // HEARTH_CORE_OPS_REDUCE_H_
