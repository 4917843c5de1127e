// Average and max pooling over images, NHWC; padded elements are ignored.
#ifndef HEARTH_CORE_OPS_POOLING_H_
#define HEARTH_CORE_OPS_POOLING_H_

#include "core/op_table.h"

namespace hearth {

Status InferPool2D(Graph& graph, const Node& node);
void ReferencePool2D(const Node& node, std::span<const ReferenceTensor* const> inputs,
                     std::span<ReferenceTensor> outputs);
std::optional<std::string> Pool2DUnsupported(const Graph& graph, const Node& node, const DeviceInfo& device);
Status LowerPool2D(const Node& node, PlanBuilder& builder);

}  // namespace hearth

#endif  // HEARTH_CORE_OPS_POOLING_H_
