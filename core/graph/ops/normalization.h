// L2 normalization of a pixel's channels, and local response normalization over neighbouring channels.
#ifndef HEARTH_CORE_GRAPH_OPS_NORMALIZATION_H_
#define HEARTH_CORE_GRAPH_OPS_NORMALIZATION_H_

#include "core/graph/op_def.h"

namespace hearth {

Status InferL2Normalization(Graph& graph, const Node& node);
void ReferenceL2Normalization(const Node& node, std::span<const ReferenceTensor* const> inputs,
                              std::span<ReferenceTensor> outputs);

Status InferLocalResponseNormalization(Graph& graph, const Node& node);
void ReferenceLocalResponseNormalization(const Node& node, std::span<const ReferenceTensor* const> inputs,
                                         std::span<ReferenceTensor> outputs);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_OPS_NORMALIZATION_H_
