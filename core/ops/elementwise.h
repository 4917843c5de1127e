// Operations element by element: unary and binary ones, of which the rows of elementwise_table.h say which there are,
// and those that are sums and products of them.
#ifndef HEARTH_CORE_OPS_ELEMENTWISE_H_
#define HEARTH_CORE_OPS_ELEMENTWISE_H_

#include "core/op_table.h"

namespace hearth {

Status InferUnary(Graph& graph, const Node& node);
void ReferenceUnary(const Node& node, std::span<const ReferenceTensor* const> inputs,
                    std::span<ReferenceTensor> outputs);
std::optional<std::string> UnaryUnsupported(const Graph& graph, const Node& node, const DeviceInfo& device);
Status LowerUnary(const Node& node, PlanBuilder& builder);

Status InferBinary(Graph& graph, const Node& node);
void ReferenceBinary(const Node& node, std::span<const ReferenceTensor* const> inputs,
                     std::span<ReferenceTensor> outputs);
std::optional<std::string> BinaryUnsupported(const Graph& graph, const Node& node, const DeviceInfo& device);
Status LowerBinary(const Node& node, PlanBuilder& builder);

Status InferPRelu(Graph& graph, const Node& node);
void ReferencePRelu(const Node& node, std::span<const ReferenceTensor* const> inputs,
                    std::span<ReferenceTensor> outputs);
std::optional<std::string> PReluUnsupported(const Graph& graph, const Node& node, const DeviceInfo& device);
Status LowerPRelu(const Node& node, PlanBuilder& builder);

Status InferAddN(Graph& graph, const Node& node);
void ReferenceAddN(const Node& node, std::span<const ReferenceTensor* const> inputs,
                   std::span<ReferenceTensor> outputs);
std::optional<std::string> AddNUnsupported(const Graph& graph, const Node& node, const DeviceInfo& device);
Status LowerAddN(const Node& node, PlanBuilder& builder);

}  // namespace hearth

#endif  // HEARTH_CORE_OPS_ELEMENTWISE_H_
