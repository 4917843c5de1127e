#include "core/ops/lowering_support.h"
#include "core/ops/softmax.h"

namespace hearth {

std::optional<std::string> SoftmaxUnsupported(const Graph& graph, const Node& node, const DeviceInfo&) {
  return NotReal(graph, node);
}

namespace {

bool IsCpuOpenCl(const DeviceInfo& device) {
  return device.is_software() && device.dialect == Dialect::kOpenCl;
}

}  // namespace

// "lanes" work items share one pixel's channels.
std::vector<KernelChoice> SoftmaxCandidates(const Node& node, const PlanBuilder& builder) {
  const int32_t slices = builder.ShapeOf(node.inputs[0]).slices();
  // Few channels: one work item a pixel. So too in PoCL, where one core runs a whole work group and lanes gain nothing:
  // without them the kernel compiles in half the time (50 ms of processor time instead of 116, PoCL 3.1).
  const bool has_lanes = slices >= 32 && !IsCpuOpenCl(builder.device());
  std::vector<KernelChoice> candidates = {{"lanes", 1, 1, has_lanes ? 32 : 1}};
  for (int lanes : {1, 8, 32}) {
    if (lanes <= slices) candidates.push_back({"lanes", 1, 1, lanes});
  }
  return WithoutRepeats(std::move(candidates));
}

namespace {

Status LowerOverChannels(const Node& node, PlanBuilder& builder, float beta, bool logarithm) {
  const Bhwc shape = builder.ShapeOf(node.inputs[0]);
  const int lane_count = builder.Choose(node).lanes;
  const Lines lines = LinesOf(shape, 1 << 15);  // with 32 lanes a work group each
  const bool is_alone = shape.pixels() == 1 && IsCpuOpenCl(builder.device());
  const uint32_t one_lane_group = is_alone ? 1 : builder.device().is_software() ? 8 : 64;
  KernelCall call;
  call.kernel = "softmax";
  call.defines = {{"LANES", std::to_string(lane_count)}, {"LOG", logarithm ? "1" : "0"}};
  call.local_size = {lane_count == 1 ? one_lane_group : static_cast<uint32_t>(lane_count), 1, 1};
  call.tensors = {{"x", builder.Tensor(node.inputs[0])}, {"y", builder.Tensor(node.outputs[0])}};
  call.scalars = {{"PIXELS", static_cast<int32_t>(shape.pixels())},
                  {"LINE", lines.length},
                  {"CHANNELS", shape.c},
                  {"N4", shape.slices()},
                  {"BETA", beta}};
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
