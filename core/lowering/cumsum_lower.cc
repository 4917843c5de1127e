#include "core/graph/ops/axis_split.h"
#include "core/lowering/lowering_support.h"
#include "core/lowering/op_lowerings.h"

namespace hearth {

std::optional<std::string> CumSumUnsupported(const Graph& graph, const Node& node, const Placing& placing) {
  return WideResults(graph, node, placing);
}

Status LowerCumSum(const Node& node, PlanBuilder& builder) {
  const auto& cumsum = std::get<CumSum>(node.op);
  const Shape& shape = builder.graph().value(node.inputs[0]).desc.shape;
  const int axis = *AxisFromFront(cumsum.axis, shape.rank());
  const bool over_channels = axis == shape.rank() - 1;
  const Bhwc in = ToBhwc(shape);
  const int64_t sums = over_channels ? in.pixels() : in.pixels() / shape[axis];
  const int64_t inner = over_channels ? 1 : CountBetween(shape, axis + 1, shape.rank() - 1);
  const Lines lines = LinesOf({1, 1, static_cast<int32_t>(sums), 1});
  KernelCall call;
  call.kernel = "cumsum";
  call.defines = {{"CHANNELS", over_channels ? "1" : "0"}};
  call.tensors =
      TensorsOf<kernels::Cumsum>({{"x", builder.Tensor(node.inputs[0])}, {"y", builder.Tensor(node.outputs[0])}});
  call.scalars = {{"PIXELS", static_cast<int32_t>(in.pixels())},
                  {"C", in.c},
                  {"SUMS", static_cast<int32_t>(sums)},
                  {"LINE", lines.length},
                  {"LENGTH", shape[axis]},
                  {"INNER", static_cast<int32_t>(inner)},
                  {"EXCLUSIVE", cumsum.exclusive ? 1 : 0},
                  {"REVERSE", cumsum.reverse ? 1 : 0}};
  call.work_items = {lines.length, lines.count, over_channels ? 1 : in.slices()};
  return builder.Call(node, call);
}

}  // namespace hearth
