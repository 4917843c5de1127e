// Results whose size depends on data: as large as they can get, and a count of what of them is used.
#ifndef HEARTH_CORE_GRAPH_OPS_DATA_SIZED_H_
#define HEARTH_CORE_GRAPH_OPS_DATA_SIZED_H_

#include "core/graph/op_def.h"

namespace hearth {

Status InferWhere(Graph& graph, const Node& node);
void ReferenceWhere(const Node& node, std::span<const ReferenceTensor* const> inputs,
                    std::span<ReferenceTensor> outputs);

Status InferUnique(Graph& graph, const Node& node);
void ReferenceUnique(const Node& node, std::span<const ReferenceTensor* const> inputs,
                     std::span<ReferenceTensor> outputs);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_OPS_DATA_SIZED_H_
