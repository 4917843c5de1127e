#include <optional>

#include "core/graph/passes/graph_rewriter.h"
#include "core/graph/quantize.h"

namespace hearth {
namespace {

std::optional<Activation> ActivationOf(const Op& op) {
  const auto* unary = std::get_if<Unary>(&op);
  if (unary == nullptr) return std::nullopt;
  switch (unary->kind) {
    case UnaryKind::kRelu: return Activation::kRelu;
    case UnaryKind::kRelu6: return Activation::kRelu6;
    case UnaryKind::kReluN1To1: return Activation::kReluN1To1;
    case UnaryKind::kTanh: return Activation::kTanh;
    case UnaryKind::kLogistic: return Activation::kSigmoid;
    default: return std::nullopt;
  }
}

Activation* ActivationAttribute(Op& op) {
  return std::visit(
      [](auto& attributes) -> Activation* {
        if constexpr (requires { attributes.activation; }) return &attributes.activation;
        return nullptr;
      },
      op);
}

}  // namespace

Result<Verdict> FuseActivation(Graph& graph, const DeviceInfo&) {
  GraphRewriter rewriter(graph);
  for (int index = 0; index < rewriter.node_count(); ++index) {
    const Node& node = rewriter.node(index);
    const std::optional<Activation> activation = ActivationOf(node.op);
    if (!activation.has_value() || !rewriter.IsReadOnce(node.inputs[0])) continue;
    Node* producer = rewriter.ProducerOf(node.inputs[0]);
    if (producer == nullptr || producer->outputs.size() != 1) continue;
    Activation* attribute = ActivationAttribute(producer->op);
    if (attribute == nullptr || *attribute != Activation::kNone) continue;
    const TensorDesc& inner = graph.value(node.inputs[0]).desc;
    // A quantized value is rounded between the two nodes; a fused activation would not be.
    if (!IsPlainFloat(inner) || inner != graph.value(node.outputs[0]).desc) continue;
    *attribute = *activation;
    rewriter.TakeOver(*producer, node.outputs[0]);
  }
  return rewriter.Finish();
}

}  // namespace hearth
