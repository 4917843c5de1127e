#include "core/ops/fully_connected.h"
#include "core/ops/lowering_support.h"
#include "core/ops/matrix_call.h"

namespace hearth {
std::optional<std::string> FullyConnectedUnsupported(const Graph& graph, const Node& node, const DeviceInfo&) {
  if (auto reason = NotReal(graph, node)) return reason;
  if (auto reason = RuntimeWeights(graph, node)) return reason;
  const Bhwc in = ToBhwc(graph.value(node.inputs[0]).desc.shape);
  const Shape& filter = graph.value(node.inputs[1]).desc.shape;
  if (in.c != filter[1]) return "its input must be flattened first";
  return std::nullopt;
}

// A 1x1 convolution over the input's rows.
Status LowerFullyConnected(const Node& node, PlanBuilder& builder) {
  const Shape& filter = builder.graph().value(node.inputs[1]).desc.shape;
  const int64_t rows = builder.ShapeOf(node.inputs[0]).pixels();
  KernelCall call = MatrixCall(builder, node, {rows, {filter[0], 1, 1, filter[1]}, true});
  call.epilogue = ActivationEpilogue(std::get<FullyConnected>(node.op).activation);
  return builder.Call(node, call);
}

}  // namespace hearth
