// Transposed convolution: the gradient of a convolution, as decoders of segmentation networks use it to enlarge images.
#ifndef HEARTH_CORE_OPS_TRANSPOSE_CONV_H_
#define HEARTH_CORE_OPS_TRANSPOSE_CONV_H_

#include "core/op_table.h"

namespace hearth {

Status InferTransposeConv(Graph& graph, const Node& node);
void ReferenceTransposeConv(const Node& node, std::span<const ReferenceTensor* const> inputs,
                            std::span<ReferenceTensor> outputs);
std::optional<std::string> TransposeConvUnsupported(const Graph& graph, const Node& node, const DeviceInfo& device);
std::vector<KernelChoice> TransposeConvCandidates(const Node& node, const PlanBuilder& builder);
Status LowerTransposeConv(const Node& node, PlanBuilder& builder);

}  // namespace hearth

#endif  // HEARTH_CORE_OPS_TRANSPOSE_CONV_H_
