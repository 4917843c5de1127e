// Dividing by the size of what is around: by the length of a pixel's channels, or by sums of neighbouring channels.
#ifndef HEARTH_CORE_OPS_NORMALIZATION_H_
#define HEARTH_CORE_OPS_NORMALIZATION_H_

#include "core/op_table.h"

namespace hearth {

Status InferL2Normalization(Graph& graph, const Node& node);
void ReferenceL2Normalization(const Node& node, std::span<const ReferenceTensor* const> inputs,
                              std::span<ReferenceTensor> outputs);
Status LowerL2Normalization(const Node& node, PlanBuilder& builder);

Status InferLocalResponseNormalization(Graph& graph, const Node& node);
void ReferenceLocalResponseNormalization(const Node& node, std::span<const ReferenceTensor* const> inputs,
                                         std::span<ReferenceTensor> outputs);
Status LowerLocalResponseNormalization(const Node& node, PlanBuilder& builder);

std::optional<std::string> NormalizationUnsupported(const Graph& graph, const Node& node, const DeviceInfo& device);

}  // namespace hearth

#endif  // HEARTH_CORE_OPS_NORMALIZATION_H_
