// Average and max pooling over images, NHWC; padded elements are ignored.
#ifndef HEARTH_CORE_GRAPH_OPS_POOLING_H_
#define HEARTH_CORE_GRAPH_OPS_POOLING_H_

#include "core/graph/op_def.h"

namespace hearth {

Status InferPool2D(Graph& graph, const Node& node);
void ReferencePool2D(const Node& node, std::span<const ReferenceTensor* const> inputs,
                     std::span<ReferenceTensor> outputs);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_OPS_POOLING_H_
