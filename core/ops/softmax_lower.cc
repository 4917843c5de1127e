#include "core/ops/lowering_support.h"
#include "core/ops/softmax.h"

namespace hearth {

std::optional<std::string> SoftmaxUnsupported(const Graph& graph, const Node& node, const DeviceInfo&) {
  return NotReal(graph, node);
}

Status LowerSoftmax(const Node& node, PlanBuilder& builder) {
  const Bhwc shape = builder.ShapeOf(node.inputs[0]);
  const int lanes = shape.slices() >= 32 ? 32 : 1;  // few channels: one work item a pixel
  const uint32_t one_lane_group = builder.device().is_software() ? 8 : 64;
  KernelCall call;
  call.kernel = "softmax";
  call.defines = {{"LANES", std::to_string(lanes)}};
  call.local_size = {lanes == 1 ? one_lane_group : static_cast<uint32_t>(lanes), 1, 1};
  call.tensors = {{"x", builder.Tensor(node.inputs[0])}, {"y", builder.Tensor(node.outputs[0])}};
  call.scalars = {{"PIXELS", static_cast<int32_t>(shape.pixels())},
                  {"CHANNELS", shape.c},
                  {"N4", shape.slices()},
                  {"BETA", std::get<Softmax>(node.op).beta}};
  call.work_items = {shape.pixels() * lanes, 1, 1};
  return builder.Call(node, call);
}

}  // namespace hearth
