#include <cmath>

#include "core/device/device_rules.h"
#include "core/lowering/lowering_support.h"
#include "core/lowering/op_lowerings.h"
#include "core/plan/storage.h"

namespace hearth {

// `lanes` work items share a pixel's channels.
std::vector<KernelChoice> SoftmaxCandidates(const Node& node, const PlanBuilder& builder) {
  return ChannelLaneChoices(builder.device(), builder.ShapeOf(node.inputs[0]).slices());
}

namespace {

Status LowerOverChannels(const Node& node, PlanBuilder& builder, float beta, bool logarithm) {
  const Bhwc shape = builder.ShapeOf(node.inputs[0]);
  const int lane_count = builder.Choose(node).lanes;
  const Lines lines = LinesOf(shape, 1 << 15);  // with 32 lanes each pixel is a work group
  const DeviceInfo& device = builder.device();
  const bool is_alone = shape.pixels() == 1 && Applies(Rule::kOneItemRuns, device);
  const uint32_t one_lane_group = is_alone ? 1 : OneLaneGroup(device);
  KernelCall call;
  call.kernel = "softmax";
  const bool halves = RealStorage(builder.options().precision, device) == StorageType::kFloat16;
  call.defines = {{"LANES", std::to_string(lane_count)},
                  {"LOG", logarithm ? "1" : "0"},
                  {"FLOOR", halves ? "1" : "0"},
                  {"NEGATED", beta < 0.0f ? "1" : "0"}};
  call.local_size = {lane_count == 1 ? one_lane_group : static_cast<uint32_t>(lane_count), 1, 1};
  call.tensors =
      TensorsOf<kernels::Softmax>({{"x", builder.Tensor(node.inputs[0])}, {"y", builder.Tensor(node.outputs[0])}});
  call.scalars = {{"PIXELS", static_cast<int32_t>(shape.pixels())},
                  {"LINE", lines.length},
                  {"CHANNELS", shape.c},
                  {"N4", shape.slices()},
                  {"BETA", std::abs(beta)}};
  call.work_items = {int64_t{lines.length} * lane_count, lines.count, 1};
  return builder.Call(node, call);
}

}  // namespace

Status LowerSoftmax(const Node& node, PlanBuilder& builder) {
  return LowerOverChannels(node, builder, std::get<Softmax>(node.op).beta, false);
}

Status LowerLogSoftmax(const Node& node, PlanBuilder& builder) {
  return LowerOverChannels(node, builder, 1.0f, true);
}

}  // namespace hearth
