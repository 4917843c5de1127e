// Convolutions over images, NHWC: filters [O,kh,kw,C/groups] (Conv2D) and [1,kh,kw,C*multiplier] (DepthwiseConv2D).
#ifndef HEARTH_CORE_OPS_CONVOLUTION_H_
#define HEARTH_CORE_OPS_CONVOLUTION_H_

#include "core/op_table.h"

namespace hearth {

Status InferConv2D(Graph& graph, const Node& node);
void ReferenceConv2D(const Node& node, std::span<const ReferenceTensor* const> inputs,
                     std::span<ReferenceTensor> outputs);
std::optional<std::string> Conv2DUnsupported(const Graph& graph, const Node& node, const DeviceInfo& device);
std::vector<KernelChoice> Conv2DCandidates(const Node& node, const PlanBuilder& builder);
Status LowerConv2D(const Node& node, PlanBuilder& builder);

Status InferDepthwiseConv2D(Graph& graph, const Node& node);
void ReferenceDepthwiseConv2D(const Node& node, std::span<const ReferenceTensor* const> inputs,
                              std::span<ReferenceTensor> outputs);
std::optional<std::string> DepthwiseConv2DUnsupported(const Graph& graph, const Node& node, const DeviceInfo& device);
std::vector<KernelChoice> DepthwiseConv2DCandidates(const Node& node, const PlanBuilder& builder);
Status LowerDepthwiseConv2D(const Node& node, PlanBuilder& builder);

}  // namespace hearth

#endif  // HEARTH_CORE_OPS_CONVOLUTION_H_
