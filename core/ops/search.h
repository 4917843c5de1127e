// Finding elements: the extreme one along a dimension, the k largest of the last one.
#ifndef HEARTH_CORE_OPS_SEARCH_H_
#define HEARTH_CORE_OPS_SEARCH_H_

#include "core/op_table.h"

namespace hearth {

Status InferArgReduce(Graph& graph, const Node& node);
void ReferenceArgReduce(const Node& node, std::span<const ReferenceTensor* const> inputs,
                        std::span<ReferenceTensor> outputs);
Status LowerArgReduce(const Node& node, PlanBuilder& builder);

Status InferTopK(Graph& graph, const Node& node);
void ReferenceTopK(const Node& node, std::span<const ReferenceTensor* const> inputs,
                   std::span<ReferenceTensor> outputs);
Status LowerTopK(const Node& node, PlanBuilder& builder);

// Of both: they compare integers of 32 bits.
std::optional<std::string> SearchUnsupported(const Graph& graph, const Node& node, const DeviceInfo& device);

}  // namespace hearth

#endif  // HEARTH_CORE_OPS_SEARCH_H_
