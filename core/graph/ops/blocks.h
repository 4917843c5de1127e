// Moving blocks of pixels between the image and its channels or its batch.
#ifndef HEARTH_CORE_GRAPH_OPS_BLOCKS_H_
#define HEARTH_CORE_GRAPH_OPS_BLOCKS_H_

#include "core/graph/op_def.h"

namespace hearth {

// Channel (dy * block + dx) * C + c of a pixel becomes channel c of pixel (dy, dx) of its block, and back.
Status InferDepthToSpace(Graph& graph, const Node& node);
void ReferenceDepthToSpace(const Node& node, std::span<const ReferenceTensor* const> inputs,
                           std::span<ReferenceTensor> outputs);
Status InferSpaceToDepth(Graph& graph, const Node& node);
void ReferenceSpaceToDepth(const Node& node, std::span<const ReferenceTensor* const> inputs,
                           std::span<ReferenceTensor> outputs);

// Pixel (dy, dx) of every block of the padded image b becomes a pixel of image (dy * block_w + dx) * batch + b, and
// back. Ranks 3 (one spatial dimension) and 4 (two).
Status InferSpaceToBatch(Graph& graph, const Node& node);
void ReferenceSpaceToBatch(const Node& node, std::span<const ReferenceTensor* const> inputs,
                           std::span<ReferenceTensor> outputs);

Status InferBatchToSpace(Graph& graph, const Node& node);
void ReferenceBatchToSpace(const Node& node, std::span<const ReferenceTensor* const> inputs,
                           std::span<ReferenceTensor> outputs);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_OPS_BLOCKS_H_
