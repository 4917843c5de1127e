// Padding of any dimension: with a constant, or with a mirror image of the border.
#ifndef HEARTH_CORE_GRAPH_OPS_PAD_H_
#define HEARTH_CORE_GRAPH_OPS_PAD_H_

#include "core/graph/op_def.h"

namespace hearth {

Status InferPad(Graph& graph, const Node& node);
void ReferencePad(const Node& node, std::span<const ReferenceTensor* const> inputs, std::span<ReferenceTensor> outputs);

Status InferMirrorPad(Graph& graph, const Node& node);
void ReferenceMirrorPad(const Node& node, std::span<const ReferenceTensor* const> inputs,
                        std::span<ReferenceTensor> outputs);

// Which of the `size` elements of dimension `d` is element `at` of the padded dimension.
int64_t MirroredCoordinate(const MirrorPad& pad, int d, int64_t at, int64_t size);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_OPS_PAD_H_
