#include <optional>

#include "core/graph/ops/elementwise_table.h"
#include "core/graph/passes/graph_rewriter.h"
#include "core/graph/quantize.h"

namespace hearth {
namespace {

std::optional<Activation> ActivationOf(const Op& op) {
  const auto* unary = std::get_if<Unary>(&op);
  for (const Activation activation :
       {Activation::kRelu, Activation::kRelu6, Activation::kReluN1To1, Activation::kTanh, Activation::kSigmoid}) {
    if (unary != nullptr && unary->kind == UnaryOf(activation)) return activation;
  }
  return std::nullopt;
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
