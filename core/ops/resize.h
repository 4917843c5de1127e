// Bilinear and nearest-neighbor resizing of images, NHWC.
#ifndef HEARTH_CORE_OPS_RESIZE_H_
#define HEARTH_CORE_OPS_RESIZE_H_

#include "core/op_table.h"

namespace hearth {

Status InferResize(Graph& graph, const Node& node);
void ReferenceResize(const Node& node, std::span<const ReferenceTensor* const> inputs,
                     std::span<ReferenceTensor> outputs);
std::optional<std::string> ResizeUnsupported(const Graph& graph, const Node& node, const DeviceInfo& device);
Status LowerResize(const Node& node, PlanBuilder& builder);

}  // namespace hearth

#endif  // HEARTH_CORE_OPS_RESIZE_H_
