#include <algorithm>

#include "core/lowering/loop_turns.h"
#include "core/lowering/lowering_support.h"
#include "core/lowering/op_lowerings.h"

namespace hearth {
namespace {

// How far the channels reach that local_response_normalization adds up.
int32_t ReachOf(const Node& node, const Bhwc& shape) {
  return std::min(std::get<LocalResponseNormalization>(node.op).radius, shape.c);
}

}  // namespace

Status LowerL2Normalization(const Node& node, PlanBuilder& builder) {
  const Bhwc shape = builder.ShapeOf(node.inputs[0]);
  const int lane_count = ChannelLanes(builder.device(), shape.slices());
  const Lines lines = LinesOf(shape, 1 << 15);  // with 32 lanes each pixel is a work group
  const uint32_t one_lane_group = OneLaneGroup(builder.device());
  KernelCall call;
  call.kernel = "l2_normalization";
  call.defines = {{"LANES", std::to_string(lane_count)}};
  call.local_size = {lane_count == 1 ? one_lane_group : static_cast<uint32_t>(lane_count), 1, 1};
  call.tensors = TensorsOf<kernels::L2Normalization>(
      {{"x", builder.Tensor(node.inputs[0])}, {"y", builder.Tensor(node.outputs[0])}});
  call.scalars = {{"PIXELS", static_cast<int32_t>(shape.pixels())},
                  {"LINE", lines.length},
                  {"CHANNELS", shape.c},
                  {"N4", shape.slices()}};
  call.epilogue = ActivationEpilogue(std::get<L2Normalization>(node.op).activation);
  call.work_items = {int64_t{lines.length} * lane_count, lines.count, 1};
  return builder.Call(node, call);
}

// Over the channels around those of a texel.
int64_t LocalResponseTurns(const Graph& graph, const Node& node) {
  const Bhwc shape = ToBhwc(graph.value(node.inputs[0]).desc.shape);
  return LoopOf(std::min(int64_t{shape.c}, 4 + 2 * int64_t{ReachOf(node, shape)}));
}

Status LowerLocalResponseNormalization(const Node& node, PlanBuilder& builder) {
  const auto& norm = std::get<LocalResponseNormalization>(node.op);
  const Bhwc shape = builder.ShapeOf(node.inputs[0]);
  const Lines lines = LinesOf(shape);
  KernelCall call;
  call.kernel = "local_response_normalization";
  call.tensors = TensorsOf<kernels::LocalResponseNormalization>(
      {{"x", builder.Tensor(node.inputs[0])}, {"y", builder.Tensor(node.outputs[0])}});
  call.scalars = {{"PIXELS", static_cast<int32_t>(shape.pixels())},
                  {"LINE", lines.length},
                  {"C", shape.c},
                  {"RADIUS", ReachOf(node, shape)},
                  {"BIAS", norm.bias},
                  {"ALPHA", norm.alpha},
                  {"BETA", norm.beta}};
  call.work_items = {lines.length, lines.count, shape.slices()};
  return builder.Call(node, call);
}

}  // namespace hearth
