#include "core/graph/quantize.h"
#include "core/lowering/lowering_support.h"
#include "core/lowering/op_lowerings.h"

namespace hearth {
std::optional<std::string> CastUnsupported(const Graph& graph, const Node& node, const Placing& placing) {
  const DType from = graph.value(node.inputs[0]).desc.dtype;
  const bool from_real = from == DType::kFloat32 || from == DType::kFloat16;
  return from_real ? WideResults(graph, node, placing) : WideIntegers(node, placing);
}

Status LowerCast(const Node& node, PlanBuilder& builder) {
  const DType to = std::get<Cast>(node.op).to;
  const bool from_real = IsReal(builder.graph().value(node.inputs[0]).desc);
  KernelCall call = MapCall(builder.ShapeOf(node.outputs[0]));
  call.tensors = {{"x", builder.Tensor(node.inputs[0])}, {"y", builder.Tensor(node.outputs[0])}};
  call.defines = {{"VALUE", std::string(CastText(to, from_real))}};
  return builder.Call(node, call);
}

}  // namespace hearth
