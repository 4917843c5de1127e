// Unary and binary operations element by element; the rows of elementwise_table.h say which there are.
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

}  // namespace hearth

#endif  // HEARTH_CORE_OPS_ELEMENTWISE_H_
