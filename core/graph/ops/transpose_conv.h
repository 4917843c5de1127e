// Transposed convolution: the gradient of a convolution, as decoders of segmentation networks use it to enlarge images.
#ifndef HEARTH_CORE_GRAPH_OPS_TRANSPOSE_CONV_H_
#define HEARTH_CORE_GRAPH_OPS_TRANSPOSE_CONV_H_

#include "core/graph/op_def.h"

namespace hearth {

Status InferTransposeConv(Graph& graph, const Node& node);
void ReferenceTransposeConv(const Node& node, std::span<const ReferenceTensor* const> inputs,
                            std::span<ReferenceTensor> outputs);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_OPS_TRANSPOSE_CONV_H_
