// Choosing between two tensors by a condition: SELECT_V2, which broadcasts, and SELECT's form with one condition a row.
#ifndef HEARTH_CORE_OPS_SELECT_H_
#define HEARTH_CORE_OPS_SELECT_H_

#include "core/op_table.h"

namespace hearth {

Status InferSelect(Graph& graph, const Node& node);
void ReferenceSelect(const Node& node, std::span<const ReferenceTensor* const> inputs,
                     std::span<ReferenceTensor> outputs);
std::optional<std::string> SelectUnsupported(const Graph& graph, const Node& node, const DeviceInfo& device);
Status LowerSelect(const Node& node, PlanBuilder& builder);

Status InferSelectRows(Graph& graph, const Node& node);
void ReferenceSelectRows(const Node& node, std::span<const ReferenceTensor* const> inputs,
                         std::span<ReferenceTensor> outputs);
std::optional<std::string> SelectRowsUnsupported(const Graph& graph, const Node& node, const DeviceInfo& device);
Status LowerSelectRows(const Node& node, PlanBuilder& builder);

}  // namespace hearth

#endif  // HEARTH_CORE_OPS_SELECT_H_
