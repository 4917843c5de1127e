// Nodes of operators that the program registered.
#ifndef HEARTH_FRONTENDS_ONNX_CUSTOM_H_
#define HEARTH_FRONTENDS_ONNX_CUSTOM_H_

#include <string>

#include "core/graph/custom_node.h"
#include "frontends/onnx/op_view.h"

namespace hearth::onnx {

// The name under which a program registers the node's operator.
std::string RegisteredName(const NodeProto& node);
// kUnsupported: for an operator that Hearth does not know, with the ways out.
Status NotRegistered(const NodeProto& node);
// The node of such an operator, whose functions tell what it makes.
Results AddCustom(const OpView& view, const CustomOp& op);

}  // namespace hearth::onnx

#endif  // HEARTH_FRONTENDS_ONNX_CUSTOM_H_
