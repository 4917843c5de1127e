#include "backends/cpu/nodes/float_convolution.h"

#include "core/graph/ops/elementwise_table.h"
#include "core/graph/quantize.h"

namespace hearth {
namespace {

// A dense filter may be what another node makes.
bool HasWeights(const Graph& graph, const Node& node, bool has_bias) {
  const ValueId filter = node.inputs[1];
  const bool may_change = std::holds_alternative<Conv2D>(node.op) && IsPlainFloat32(graph.value(filter).desc);
  if (graph.IsConstant(node.inputs[0]) || (!graph.IsConstant(filter) && !may_change)) return false;
  return !has_bias || graph.IsConstant(node.inputs[2]);
}

}  // namespace

std::optional<FloatConvolution> FloatConvolutionOf(const HostNodeRequest& request) {
  const Graph& graph = request.graph;
  const Node& node = request.node;
  const auto* dense = std::get_if<Conv2D>(&node.op);
  const auto* depthwise = std::get_if<DepthwiseConv2D>(&node.op);
  if (dense == nullptr && depthwise == nullptr) return std::nullopt;
  const bool has_bias = node.inputs.size() > 2 && node.inputs[2] != kNoValue;
  if (!HasWeights(graph, node, has_bias)) return std::nullopt;
  const TensorDesc &x = graph.value(node.inputs[0]).desc, &y = graph.value(node.outputs[0]).desc;
  const Shape& filter = graph.value(node.inputs[1]).desc.shape;
  if (!IsPlainFloat32(x) || !IsPlainFloat32(y) || filter[3] != x.shape[3]) return std::nullopt;
  if (x.shape.element_count() == 0 || y.shape.element_count() == 0) return std::nullopt;
  const Window2D& window = dense != nullptr ? dense->window : depthwise->window;
  return FloatConvolution{x.shape,
                          y.shape,
                          filter[1],
                          filter[2],
                          window,
                          ResolvePadding(window, x.shape[1], x.shape[2], filter[1], filter[2]),
                          dense != nullptr ? dense->activation : depthwise->activation,
                          depthwise != nullptr,
                          has_bias};
}

bool FitsExactness(const HostNodeRequest& request, const FloatConvolution& convolution) {
  return !request.decides_indices || ActivationBounds(convolution.activation).has_value();
}

}  // namespace hearth
