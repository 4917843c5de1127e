// MediaPipe's pooling that remembers where its maxima stood, and its inverse; sampling of an image at computed points.
#ifndef HEARTH_CORE_GRAPH_OPS_UNPOOLING_H_
#define HEARTH_CORE_GRAPH_OPS_UNPOOLING_H_

#include "core/graph/op_def.h"

namespace hearth {

Status InferMaxPoolArgmax2D(Graph& graph, const Node& node);
void ReferenceMaxPoolArgmax2D(const Node& node, std::span<const ReferenceTensor* const> inputs,
                              std::span<ReferenceTensor> outputs);

Status InferMaxUnpool2D(Graph& graph, const Node& node);
void ReferenceMaxUnpool2D(const Node& node, std::span<const ReferenceTensor* const> inputs,
                          std::span<ReferenceTensor> outputs);

Status InferResampler(Graph& graph, const Node& node);
void ReferenceResampler(const Node& node, std::span<const ReferenceTensor* const> inputs,
                        std::span<ReferenceTensor> outputs);

// For an image of height x width: rows above and columns left of it that the first windows cover. MediaPipe derives it
// from the output's size; more than 0 only under strides larger than the kernel.
Padding2D UnpoolPadding(const MaxUnpool2D& unpool, int32_t height, int32_t width);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_OPS_UNPOOLING_H_
