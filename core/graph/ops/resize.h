// Bilinear and nearest-neighbor resizing of images, NHWC.
#ifndef HEARTH_CORE_GRAPH_OPS_RESIZE_H_
#define HEARTH_CORE_GRAPH_OPS_RESIZE_H_

#include "core/graph/op_def.h"

namespace hearth {

Status InferResize(Graph& graph, const Node& node);
void ReferenceResize(const Node& node, std::span<const ReferenceTensor* const> inputs,
                     std::span<ReferenceTensor> outputs);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_OPS_RESIZE_H_
