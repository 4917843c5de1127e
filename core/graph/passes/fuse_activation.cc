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

}  // namespace

Result<Verdict> FuseActivation(Graph& graph, const DeviceInfo&) {
  return RewriteEach(graph, [&](GraphRewriter& rewriter, const Node& node) {
    const std::optional<Activation> activation = ActivationOf(node.op);
    if (!activation.has_value() || !rewriter.IsReadOnce(node.inputs[0])) return;
    Node* producer = rewriter.ProducerOf(node.inputs[0]);
    if (producer == nullptr || producer->outputs.size() != 1) return;
    Activation* attribute = ActivationAttribute(producer->op);
    if (attribute == nullptr || *attribute != Activation::kNone) return;
    const TensorDesc& inner = graph.value(node.inputs[0]).desc;
    // A quantized value is rounded between the two nodes; a fused activation would not be.
    if (!IsPlainFloat(inner) || inner != graph.value(node.outputs[0]).desc) return;
    *attribute = *activation;
    rewriter.TakeOver(*producer, node.outputs[0]);
  });
}

}  // namespace hearth
