#include "backends/cpu/integer/integer_nodes.h"

#include "backends/cpu/integer/layer.h"
#include "backends/cpu/movement.h"
#include "core/base/error.h"
#include "core/graph/ops/elementwise_table.h"

namespace hearth {

Result<std::unique_ptr<HostNode>> MakeIntegerNode(const HostNodeRequest& request) {
  for (const auto& make : {MakeIntegerMatrixNode, MakeIntegerDepthwiseNode, MakeIntegerBinaryNode, MakeIntegerPoolNode,
                           MakeIntegerResizeNode}) {
    if (std::unique_ptr<HostNode> node = make(request)) return node;
  }
  if (!MovesBytes(request.graph, request.node)) return MakeIntegerUnaryNode(request);
  HEARTH_ASSIGN(std::unique_ptr<HostNode> node, MakeCopyNode(request));
  if (node != nullptr) return node;
  return MakeMovementNode(request);
}

bool MovesBytes(const Graph& graph, const Node& node) {
  if (node.inputs.empty() || node.inputs[0] == kNoValue) return false;
  const TensorDesc& in = graph.value(node.inputs[0]).desc;
  for (ValueId value : node.outputs) {
    if (!IsStoredIn8Bits(graph.value(value).desc)) return false;
  }
  if (!IsStoredIn8Bits(in)) return false;
  if (std::holds_alternative<Concat>(node.op) || std::holds_alternative<Pack>(node.op)) {
    for (ValueId value : node.inputs) {
      if (value == kNoValue || !IsStoredIn8Bits(graph.value(value).desc)) return false;
    }
    const auto* concat = std::get_if<Concat>(&node.op);
    return concat == nullptr || ActivationBounds(concat->activation).has_value();
  }
  if (std::holds_alternative<Reshape>(node.op)) return true;
  for (size_t k = 0; k < node.outputs.size(); ++k) {
    const TensorDesc& out = graph.value(node.outputs[k]).desc;
    if (in.dtype != out.dtype || in.quantization != out.quantization || !HasMovedParts(graph, node, k)) return false;
  }
  return true;
}

}  // namespace hearth
