// Padding of any dimension: with a constant, or with what lies on the other side of the edge.
#ifndef HEARTH_CORE_OPS_PAD_H_
#define HEARTH_CORE_OPS_PAD_H_

#include "core/op_table.h"

namespace hearth {

Status InferPad(Graph& graph, const Node& node);
void ReferencePad(const Node& node, std::span<const ReferenceTensor* const> inputs, std::span<ReferenceTensor> outputs);
std::optional<std::string> PadUnsupported(const Graph& graph, const Node& node, const DeviceInfo& device);
Status LowerPad(const Node& node, PlanBuilder& builder);

Status InferMirrorPad(Graph& graph, const Node& node);
void ReferenceMirrorPad(const Node& node, std::span<const ReferenceTensor* const> inputs,
                        std::span<ReferenceTensor> outputs);
std::optional<std::string> MirrorPadUnsupported(const Graph& graph, const Node& node, const DeviceInfo& device);
Status LowerMirrorPad(const Node& node, PlanBuilder& builder);

}  // namespace hearth

#endif  // HEARTH_CORE_OPS_PAD_H_
