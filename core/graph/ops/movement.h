// Rearranging and repeating elements along the dimensions of one tensor. On devices all are strided copies.
#ifndef HEARTH_CORE_GRAPH_OPS_MOVEMENT_H_
#define HEARTH_CORE_GRAPH_OPS_MOVEMENT_H_

#include "core/graph/op_def.h"

namespace hearth {

Status InferTranspose(Graph& graph, const Node& node);
void ReferenceTranspose(const Node& node, std::span<const ReferenceTensor* const> inputs,
                        std::span<ReferenceTensor> outputs);

Status InferSlice(Graph& graph, const Node& node);
void ReferenceSlice(const Node& node, std::span<const ReferenceTensor* const> inputs,
                    std::span<ReferenceTensor> outputs);

Status InferTile(Graph& graph, const Node& node);
void ReferenceTile(const Node& node, std::span<const ReferenceTensor* const> inputs,
                   std::span<ReferenceTensor> outputs);

Status InferBroadcastTo(Graph& graph, const Node& node);
void ReferenceBroadcastTo(const Node& node, std::span<const ReferenceTensor* const> inputs,
                          std::span<ReferenceTensor> outputs);

Status InferReverse(Graph& graph, const Node& node);
void ReferenceReverse(const Node& node, std::span<const ReferenceTensor* const> inputs,
                      std::span<ReferenceTensor> outputs);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_OPS_MOVEMENT_H_
