// Choosing between two tensors by a condition: SELECT_V2, which broadcasts, and SELECT's form with one condition a row.
#ifndef HEARTH_CORE_GRAPH_OPS_SELECT_H_
#define HEARTH_CORE_GRAPH_OPS_SELECT_H_

#include "core/graph/op_def.h"

namespace hearth {

Status InferSelect(Graph& graph, const Node& node);
void ReferenceSelect(const Node& node, std::span<const ReferenceTensor* const> inputs,
                     std::span<ReferenceTensor> outputs);

Status InferSelectRows(Graph& graph, const Node& node);
void ReferenceSelectRows(const Node& node, std::span<const ReferenceTensor* const> inputs,
                         std::span<ReferenceTensor> outputs);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_OPS_SELECT_H_
