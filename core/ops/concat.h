// Joining tensors along one axis.
#ifndef HEARTH_CORE_OPS_CONCAT_H_
#define HEARTH_CORE_OPS_CONCAT_H_

#include "core/op_table.h"

namespace hearth {

Status InferConcat(Graph& graph, const Node& node);
void ReferenceConcat(const Node& node, std::span<const ReferenceTensor* const> inputs,
                     std::span<ReferenceTensor> outputs);
std::optional<std::string> ConcatUnsupported(const Graph& graph, const Node& node, const DeviceInfo& device);
Status LowerConcat(const Node& node, PlanBuilder& builder);

}  // namespace hearth

#endif  // HEARTH_CORE_OPS_CONCAT_H_
