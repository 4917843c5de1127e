// One tensor into several along a dimension (split, unpack), and several into one with a new dimension (pack).
#ifndef HEARTH_CORE_GRAPH_OPS_SPLIT_H_
#define HEARTH_CORE_GRAPH_OPS_SPLIT_H_

#include "core/graph/op_def.h"

namespace hearth {

Status InferSplit(Graph& graph, const Node& node);
void ReferenceSplit(const Node& node, std::span<const ReferenceTensor* const> inputs,
                    std::span<ReferenceTensor> outputs);

Status InferUnpack(Graph& graph, const Node& node);
void ReferenceUnpack(const Node& node, std::span<const ReferenceTensor* const> inputs,
                     std::span<ReferenceTensor> outputs);

Status InferPack(Graph& graph, const Node& node);
void ReferencePack(const Node& node, std::span<const ReferenceTensor* const> inputs,
                   std::span<ReferenceTensor> outputs);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_OPS_SPLIT_H_
