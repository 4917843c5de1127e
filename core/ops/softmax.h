// Softmax over the last dimension, and its logarithm.
#ifndef HEARTH_CORE_OPS_SOFTMAX_H_
#define HEARTH_CORE_OPS_SOFTMAX_H_

#include "core/op_table.h"

namespace hearth {

Status InferSoftmax(Graph& graph, const Node& node);
void ReferenceSoftmax(const Node& node, std::span<const ReferenceTensor* const> inputs,
                      std::span<ReferenceTensor> outputs);
std::optional<std::string> SoftmaxUnsupported(const Graph& graph, const Node& node, const DeviceInfo& device);
std::vector<KernelChoice> SoftmaxCandidates(const Node& node, const PlanBuilder& builder);
Status LowerSoftmax(const Node& node, PlanBuilder& builder);

Status InferLogSoftmax(Graph& graph, const Node& node);
void ReferenceLogSoftmax(const Node& node, std::span<const ReferenceTensor* const> inputs,
                         std::span<ReferenceTensor> outputs);
Status LowerLogSoftmax(const Node& node, PlanBuilder& builder);

}  // namespace hearth

#endif  // HEARTH_CORE_OPS_SOFTMAX_H_
