#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/numbers.h"
#include "core/device/device_rules.h"
#include "core/emit/kernel_library.h"
#include "core/emit/kernel_limits.h"
#include "core/graph/ops/normalization.h"
#include "core/lowering/loop_iterations.h"
#include "core/lowering/lowering_support.h"
#include "core/lowering/op_lowerings.h"
#include "core/plan/storage.h"

namespace hearth {
namespace {

// How far the channels reach that local_response_normalization adds up.
int32_t ReachOf(const Node& node, const Bhwc& shape) {
  return std::min(std::get<LocalResponseNormalization>(node.op).radius, shape.c);
}

// `lanes` work items for each of `items`, of one or more pixels of `shape`, whose channels they share.
void UseLanesOfPixels(const Bhwc& shape, int64_t items, int lanes, uint32_t one_lane_group, KernelCall& call) {
  call.defines.push_back({"LANES", std::to_string(lanes)});
  call.local_size = {lanes == 1 ? one_lane_group : static_cast<uint32_t>(lanes), 1, 1};
  call.scalars = {{"PIXELS", shape.pixels()}, {"CHANNELS", shape.c}, {"N4", shape.slices()}};
  UseLines(items, 1, call, lanes, 1 << 15);  // with 32 lanes each pixel is a work group
}

Status LowerOverChannels(const Node& node, PlanBuilder& builder, float beta, bool logarithm) {
  const Bhwc shape = builder.ShapeOf(node.inputs[0]);
  const DeviceInfo& device = builder.device();
  const bool is_alone = shape.pixels() == 1 && Applies(Rule::kOneItemRuns, device);
  KernelCall call = NodeCallOf<kernels::Softmax>(builder, node);
  const bool halves = RealStorage(builder.options().precision, device) == StorageType::kFloat16;
  call.defines = {{"LOG", logarithm ? "1" : "0"}, {"FLOOR", halves ? "1" : "0"}, {"NEGATED", beta < 0.0f ? "1" : "0"}};
  UseLanesOfPixels(shape, shape.pixels(), builder.Choose(node).lanes, is_alone ? 1 : OneLaneGroup(device), call);
  call.scalars.push_back({"BETA", std::abs(beta)});
  return builder.Call(node, call);
}

constexpr KernelName kMomentsKernel = "moments";

uint64_t MomentsBytesOfItem() {
  static const uint64_t bytes = LocalBytesOfItem(*LoadKernel(kMomentsKernel.text()));
  return bytes;
}

int64_t TexelsOf(const NormalizedRuns& runs) {
  return runs.length * std::max(runs.group_slices(), 1);
}

// Of moments.kernel: two passes over the run, in blocks, four texels a turn and then those that are left.
int64_t MomentsIterations(const NormalizedRuns& runs, int64_t lanes) {
  constexpr int64_t kBlock = 1024;  // the kernel's
  const int64_t slices = std::max(runs.group_slices(), 1), each = Tiles(runs.length, lanes);
  const int64_t ends = LoopOf(0) + LoopOf(0);  // of both loops in a block
  const int64_t pass = LoopOf(slices, LoopOf(Tiles(each, kBlock), ends) + each / 4 + 3) + LoopOf(lanes);
  return 2 * pass + LoopOf(slices);
}

// How many work items should share a run on software devices. On llvmpipe 8 are one vector, and more pay off from about
// 1000 pixels on (lavapipe: 6 x 64x4x4x64 took 12.4 ms with 32 and 4.5 with 8; 96x96x32 took 5.0 with 32).
int RunLanesOfSoftware(const NormalizedRuns& runs) {
  return TexelsOf(runs) >= 1024 ? 32 : 8;
}

// How many do. One where the rule says so, unless its loops would be too long.
int RunLanes(const DeviceInfo& device, const NormalizedRuns& runs) {
  if (Applies(Rule::kOneItemRuns, device) && MomentsIterations(runs, 1) <= MostLoopIterations(device)) return 1;
  const bool shares_more = !Applies(Rule::kOneItemSums, device) && TexelsOf(runs) >= 32;
  return FittingLanes(device, shares_more ? 32 : RunLanesOfSoftware(runs), MomentsBytesOfItem());
}

NormalizedRuns RunsOf(const Node& node, const PlanBuilder& builder) {
  return *NormalizedRunsOf(builder.DescOf(node.inputs[0]).shape, std::get<MeanVarianceNormalization>(node.op));
}

// The scale or offset; zeros if the node has none.
Operand PerChannelOperand(PlanBuilder& builder, const Node& node, size_t input) {
  return BiasOperand(builder, InputOf(node, input), builder.ShapeOf(node.inputs[0]).c, 4);
}

// The number that kernels add to the scale operand: 1 if there is no scale.
float UnitOf(const Node& node) {
  return InputOf(node, 1) != kNoValue ? 0.0f : 1.0f;
}

// A work item makes four pixels if there are enough of them: on PoCL, lines 2 KiB apart evict each other.
std::vector<KernelChoice> ChannelChoices(const DeviceInfo& device, const Bhwc& shape) {
  std::vector<KernelChoice> choices = ChannelLaneChoices(device, shape.slices());
  const bool has_many_pixels = Applies(Rule::kFourPixelsEach, device) && shape.pixels() >= 32;
  for (KernelChoice& choice : choices) choice.rows = has_many_pixels && choice.lanes == 1 ? 4 : 1;
  return choices;
}

Status LowerOverChannels(const Node& node, PlanBuilder& builder) {
  const auto& norm = std::get<MeanVarianceNormalization>(node.op);
  const Bhwc shape = builder.ShapeOf(node.inputs[0]);
  const KernelChoice choice = builder.Choose(node);
  KernelCall call = CallOf<kernels::NormalizeChannels>({{"x", builder.Tensor(node.inputs[0])},
                                                        {"scale", PerChannelOperand(builder, node, 1)},
                                                        {"offset", PerChannelOperand(builder, node, 2)},
                                                        {"y", builder.Tensor(node.outputs[0])}});
  call.stores_each_texel_once = true;
  call.defines = {{"CENTERED", norm.root_mean_square ? "0" : "1"}, {"EACH", std::to_string(choice.rows)}};
  UseLanesOfPixels(shape, Tiles(shape.pixels(), choice.rows), choice.lanes, OneLaneGroup(builder.device()), call);
  call.scalars.insert(call.scalars.end(), {{"EPSILON", norm.epsilon}, {"UNIT", UnitOf(node)}});
  call.epilogue = ActivationEpilogue(norm.activation);
  return builder.Call(node, call);
}

// Makes the mean of each run and channel, followed by 1 / sqrt(variance + epsilon) * scale of all.
KernelCall MomentsCall(const Node& node, PlanBuilder& builder, const NormalizedRuns& runs, ValueId moments) {
  const Bhwc shape = builder.ShapeOf(node.inputs[0]);
  const int lanes = builder.Choose(node).lanes;
  KernelCall call;
  call.kernel = kMomentsKernel;
  const bool in_groups = runs.group_slices() > 0;
  call.defines = {{"LANES", std::to_string(lanes)}, {"GROUPED", in_groups ? "1" : "0"}};
  call.local_size = {static_cast<uint32_t>(lanes), 1, 1};
  call.local_by_item = true;
  call.tensors = {{"x", builder.Tensor(node.inputs[0])},
                  {"scale", PerChannelOperand(builder, node, 1)},
                  {"y", builder.Tensor(moments)}};
  call.scalars = {{"RUNS", runs.count},
                  {"LENGTH", runs.length},
                  {"CHANNELS", shape.c},
                  {"SLICES", std::max(runs.group_slices(), 1)},
                  {"EPSILON", std::get<MeanVarianceNormalization>(node.op).epsilon},
                  {"UNIT", UnitOf(node)}};
  call.work_items = {lanes, 1, shape.slices() / std::max(runs.group_slices(), 1) * runs.count};
  return call;
}

Status LowerOverPixels(const Node& node, PlanBuilder& builder) {
  constexpr int64_t kPixelsEach = 4, kMostColumns = 1 << 16;
  const NormalizedRuns runs = RunsOf(node, builder);
  const Bhwc shape = builder.ShapeOf(node.inputs[0]);
  TensorDesc desc;
  desc.shape = Shape{2, static_cast<int32_t>(runs.count), shape.c};
  const ValueId moments = builder.Scratch(desc);
  HEARTH_TRY(builder.Call(node, MomentsCall(node, builder, runs, moments)));
  const int64_t columns = std::min(Tiles(runs.length, kPixelsEach), kMostColumns);
  KernelCall call = CallOf<kernels::NormalizePixels>({{"x", builder.Tensor(node.inputs[0])},
                                                      {"moments", builder.Tensor(moments)},
                                                      {"offset", PerChannelOperand(builder, node, 2)},
                                                      {"y", builder.Tensor(node.outputs[0])}});
  call.stores_each_texel_once = true;
  call.local_size = {OneLaneGroup(builder.device()), 1, 1};
  call.scalars = {{"RUNS", runs.count}, {"LENGTH", runs.length}, {"COLUMNS", columns}};
  call.epilogue = ActivationEpilogue(std::get<MeanVarianceNormalization>(node.op).activation);
  call.work_items = {columns, 1, shape.slices() * runs.count};
  return builder.Call(node, call);
}

}  // namespace

Status LowerL2Normalization(const Node& node, PlanBuilder& builder) {
  const Bhwc shape = builder.ShapeOf(node.inputs[0]);
  const DeviceInfo& device = builder.device();
  KernelCall call = NodeCallOf<kernels::L2Normalization>(builder, node);
  UseLanesOfPixels(shape, shape.pixels(), ChannelLanes(device, shape.slices()), OneLaneGroup(device), call);
  call.epilogue = ActivationEpilogue(std::get<L2Normalization>(node.op).activation);
  return builder.Call(node, call);
}

// Over the channels around those of a texel.
int64_t LocalResponseIterations(const Graph& graph, const Node& node) {
  const Bhwc shape = ToBhwc(graph.value(node.inputs[0]).desc.shape);
  return LoopOf(std::min(int64_t{shape.c}, 4 + 2 * int64_t{ReachOf(node, shape)}));
}

Status LowerLocalResponseNormalization(const Node& node, PlanBuilder& builder) {
  const auto& norm = std::get<LocalResponseNormalization>(node.op);
  const Bhwc shape = builder.ShapeOf(node.inputs[0]);
  KernelCall call = NodeCallOf<kernels::LocalResponseNormalization>(builder, node);
  call.scalars = {{"PIXELS", shape.pixels()}, {"C", shape.c},        {"RADIUS", ReachOf(node, shape)},
                  {"BIAS", norm.bias},        {"ALPHA", norm.alpha}, {"BETA", norm.beta}};
  UseLines(shape.pixels(), shape.slices(), call);
  return builder.Call(node, call);
}

// `lanes` work items share a pixel's channels.
std::vector<KernelChoice> SoftmaxCandidates(const Node& node, const PlanBuilder& builder) {
  return ChannelLaneChoices(builder.device(), builder.ShapeOf(node.inputs[0]).slices());
}

Status LowerSoftmax(const Node& node, PlanBuilder& builder) {
  return LowerOverChannels(node, builder, std::get<Softmax>(node.op).beta, false);
}

Status LowerLogSoftmax(const Node& node, PlanBuilder& builder) {
  return LowerOverChannels(node, builder, 1.0f, true);
}

std::optional<std::string> MeanVarianceNormalizationUnsupported(const Graph& graph, const Node& node,
                                                                const Placing& placing) {
  const Shape& shape = graph.value(node.inputs[0]).desc.shape;
  auto reason = NormalizedShapeUnsupported(shape, std::get<MeanVarianceNormalization>(node.op));
  return reason.has_value() ? reason : NotReal(graph, node, placing);
}

int64_t MeanVarianceIterations(const Graph& graph, const Node& node) {
  const std::optional<NormalizedRuns> runs =
      NormalizedRunsOf(graph.value(node.inputs[0]).desc.shape, std::get<MeanVarianceNormalization>(node.op));
  if (!runs.has_value()) return 0;  // it runs on the CPU
  return runs->over_channels ? IterationsAlongChannels(Tiles(runs->length, 4))
                             : MomentsIterations(*runs, RunLanesOfSoftware(*runs));
}

// `lanes` work items share a pixel's channels or a run of pixels of 4 channels, or one work item makes `rows` pixels.
std::vector<KernelChoice> MeanVarianceNormalizationCandidates(const Node& node, const PlanBuilder& builder) {
  const NormalizedRuns runs = RunsOf(node, builder);
  const DeviceInfo& device = builder.device();
  if (runs.over_channels) return ChannelChoices(device, builder.ShapeOf(node.inputs[0]));
  std::vector<KernelChoice> choices = {{"lanes", 1, 1, RunLanes(device, runs)}};
  for (int lanes : {1, 8, 32, kMostSharingItems}) {
    if (lanes <= TexelsOf(runs) && MomentsIterations(runs, lanes) <= MostLoopIterations(device))
      choices.push_back({"lanes", 1, 1, lanes});
  }
  return WithoutRepeats(WithFittingLanes(device, std::move(choices), MomentsBytesOfItem()));
}

Status LowerMeanVarianceNormalization(const Node& node, PlanBuilder& builder) {
  return RunsOf(node, builder).over_channels ? LowerOverChannels(node, builder) : LowerOverPixels(node, builder);
}

}  // namespace hearth
