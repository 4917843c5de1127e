// Operations element by element: unary and binary ones, of which the rows of elementwise_table.h say which there are,
// and those that are sums and products of them.
#ifndef HEARTH_CORE_GRAPH_OPS_ELEMENTWISE_H_
#define HEARTH_CORE_GRAPH_OPS_ELEMENTWISE_H_

#include "core/graph/op_def.h"

namespace hearth {

Status InferUnary(Graph& graph, const Node& node);
void ReferenceUnary(const Node& node, std::span<const ReferenceTensor* const> inputs,
                    std::span<ReferenceTensor> outputs);

Status InferBinary(Graph& graph, const Node& node);
void ReferenceBinary(const Node& node, std::span<const ReferenceTensor* const> inputs,
                     std::span<ReferenceTensor> outputs);

Status InferPRelu(Graph& graph, const Node& node);
void ReferencePRelu(const Node& node, std::span<const ReferenceTensor* const> inputs,
                    std::span<ReferenceTensor> outputs);

Status InferAddN(Graph& graph, const Node& node);
void ReferenceAddN(const Node& node, std::span<const ReferenceTensor* const> inputs,
                   std::span<ReferenceTensor> outputs);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_OPS_ELEMENTWISE_H_
