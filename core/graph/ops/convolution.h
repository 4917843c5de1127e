// Convolutions over images, NHWC: filters [O,kh,kw,C/groups] (Conv2D) and [1,kh,kw,C*multiplier] (DepthwiseConv2D).
#ifndef HEARTH_CORE_GRAPH_OPS_CONVOLUTION_H_
#define HEARTH_CORE_GRAPH_OPS_CONVOLUTION_H_

#include "core/graph/op_def.h"

namespace hearth {

Status InferConv2D(Graph& graph, const Node& node);
void ReferenceConv2D(const Node& node, std::span<const ReferenceTensor* const> inputs,
                     std::span<ReferenceTensor> outputs);

Status InferDepthwiseConv2D(Graph& graph, const Node& node);
void ReferenceDepthwiseConv2D(const Node& node, std::span<const ReferenceTensor* const> inputs,
                              std::span<ReferenceTensor> outputs);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_OPS_CONVOLUTION_H_
