// Softmax over the last dimension, and its logarithm.
#ifndef HEARTH_CORE_GRAPH_OPS_SOFTMAX_H_
#define HEARTH_CORE_GRAPH_OPS_SOFTMAX_H_

#include "core/graph/op_def.h"

namespace hearth {

Status InferSoftmax(Graph& graph, const Node& node);
void ReferenceSoftmax(const Node& node, std::span<const ReferenceTensor* const> inputs,
                      std::span<ReferenceTensor> outputs);

Status InferLogSoftmax(Graph& graph, const Node& node);
void ReferenceLogSoftmax(const Node& node, std::span<const ReferenceTensor* const> inputs,
                         std::span<ReferenceTensor> outputs);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_OPS_SOFTMAX_H_
