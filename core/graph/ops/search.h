// Finding elements: the extreme one along a dimension, the k largest of the last one.
#ifndef HEARTH_CORE_GRAPH_OPS_SEARCH_H_
#define HEARTH_CORE_GRAPH_OPS_SEARCH_H_

#include "core/graph/op_def.h"

namespace hearth {

Status InferArgReduce(Graph& graph, const Node& node);
void ReferenceArgReduce(const Node& node, std::span<const ReferenceTensor* const> inputs,
                        std::span<ReferenceTensor> outputs);

Status InferTopK(Graph& graph, const Node& node);
void ReferenceTopK(const Node& node, std::span<const ReferenceTensor* const> inputs,
                   std::span<ReferenceTensor> outputs);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_OPS_SEARCH_H_
