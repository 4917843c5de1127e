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

// The coordinate in dimension `d`, of `size` elements, that coordinate `at` of the padded dimension reads.
int64_t MirroredCoordinate(const MirrorPad& pad, int d, int64_t at, int64_t size);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_OPS_PAD_H_
