#include "core/ops/lowering_support.h"
#include "core/ops/reshape.h"

namespace hearth {

std::optional<std::string> ReshapeUnsupported(const Graph& graph, const Node& node, const DeviceInfo&) {
  return NotReal(graph, node);
}

Status LowerReshape(const Node& node, PlanBuilder& builder) {
  const Bhwc in = builder.ShapeOf(node.inputs[0]);
  const Bhwc out = builder.ShapeOf(node.outputs[0]);
  // Equal channels keep every texel where it is: pixels are in C order whatever b, h and w are.
  if (in.c == out.c && !builder.graph().IsConstant(node.inputs[0])) {
    return builder.Alias(node, node.outputs[0], node.inputs[0]);
  }
  KernelCall call;
  call.kernel = "reshape";
  call.tensors = {{"x", builder.Tensor(node.inputs[0])}, {"y", builder.Tensor(node.outputs[0])}};
  call.scalars = {{"IC", in.c},
                  {"IPIX", static_cast<int32_t>(in.pixels())},
                  {"OC", out.c},
                  {"OPIX", static_cast<int32_t>(out.pixels())}};
  call.work_items = {out.pixels(), out.slices(), 1};
  return builder.Call(node, call);
}

}  // namespace hearth
