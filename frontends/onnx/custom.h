// Nodes of operators that the program registered.
#ifndef HEARTH_FRONTENDS_ONNX_CUSTOM_H_
#define HEARTH_FRONTENDS_ONNX_CUSTOM_H_

#include <span>

#include "core/graph/custom_node.h"
#include "frontends/onnx/op_view.h"

namespace hearth::onnx {

// Null for an operator that is not among those that the program registered.
const CustomOp* RegisteredOp(std::span<const CustomOp> ops, const NodeProto& node);
// kUnsupported: for an operator that Hearth does not know, with the ways out.
Status NotRegistered(const NodeProto& node);
// The node of such an operator, whose functions tell what it makes.
Results AddCustom(const OpView& view, const CustomOp& op);

}  // namespace hearth::onnx

#endif  // HEARTH_FRONTENDS_ONNX_CUSTOM_H_
