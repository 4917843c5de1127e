// Conversions between element types.
#ifndef HEARTH_CORE_OPS_CAST_H_
#define HEARTH_CORE_OPS_CAST_H_

#include "core/op_table.h"

namespace hearth {

Status InferCast(Graph& graph, const Node& node);
void ReferenceCast(const Node& node, std::span<const ReferenceTensor* const> inputs,
                   std::span<ReferenceTensor> outputs);
std::optional<std::string> CastUnsupported(const Graph& graph, const Node& node, const DeviceInfo& device);
Status LowerCast(const Node& node, PlanBuilder& builder);

}  // namespace hearth

#endif  // HEARTH_CORE_OPS_CAST_H_
