#include "core/lowering/loop_turns.h"

#include <algorithm>
#include <limits>

#include "core/device/device_rules.h"
#include "core/graph/ops/mean_variance.h"

namespace hearth {
namespace {

constexpr int64_t kMostTurns = 60000;  // leaves room for loops that are not counted

int64_t Quarter(int64_t channels) {
  return (channels + 3) / 4;
}

const Shape& ShapeOf(const Graph& graph, const Node& node, size_t input) {
  return graph.value(node.inputs[input]).desc.shape;
}

int64_t Taps(const Shape& filter) {
  return int64_t{filter[1]} * filter[2];
}

// Three passes over a pixel's texels, shared as ChannelLanes (lowering_support.h) decides.
int64_t AlongChannels(int64_t slices) {
  return 3 * slices / (slices >= kManySlicesOfSoftware ? 32 : 1);
}

// A work item makes four elements.
int64_t Along(const Shape& in, int32_t axis) {
  return in.rank() == 0 ? 1 : 4 * int64_t{in[axis < 0 ? axis + in.rank() : axis]};
}

}  // namespace

int64_t ShortLoops(const Graph& /*graph*/, const Node& /*node*/) {
  return 0;
}

int64_t FilterTurns(const Graph& graph, const Node& node) {
  const Shape& filter = ShapeOf(graph, node, 1);
  return Taps(filter) * Quarter(filter[3]);
}

int64_t DepthwiseTurns(const Graph& graph, const Node& node) {
  return Taps(ShapeOf(graph, node, 1));
}

int64_t PoolTurns(const Graph& /*graph*/, const Node& node) {
  const auto& pool = std::get<Pool2D>(node.op);
  return int64_t{pool.kernel_h} * pool.kernel_w;
}

int64_t PoolArgmaxTurns(const Graph& /*graph*/, const Node& node) {
  const auto& pool = std::get<MaxPoolArgmax2D>(node.op);
  return int64_t{pool.kernel_h} * pool.kernel_w;
}

int64_t FullyConnectedTurns(const Graph& graph, const Node& node) {
  return Quarter(ShapeOf(graph, node, 1)[1]);
}

int64_t BatchMatMulTurns(const Graph& graph, const Node& node) {
  const Shape& a = ShapeOf(graph, node, 0);
  return Quarter(a[a.rank() - (std::get<BatchMatMul>(node.op).adjoint_a ? 2 : 1)]);
}

int64_t ReduceTurns(const Graph& graph, const Node& node) {
  const auto& reduce = std::get<Reduce>(node.op);
  const Shape& in = ShapeOf(graph, node, 0);
  int64_t elements = 1;
  for (int d = 0; d < in.rank(); ++d) elements *= (reduce.axes_mask >> d & 1) != 0 ? in[d] : 1;
  const bool over_channels = in.rank() > 0 && (reduce.axes_mask >> (in.rank() - 1) & 1) != 0;
  const int64_t turns = over_channels ? Quarter(elements) : elements;
  const Bhwc out = ToBhwc(graph.value(node.outputs[0]).desc.shape);
  return turns / LanesOfReduction(turns, out.pixels() * out.slices());
}

int64_t MeanVarianceTurns(const Graph& graph, const Node& node) {
  const std::optional<NormalizedRuns> runs =
      NormalizedRunsOf(ShapeOf(graph, node, 0), std::get<MeanVarianceNormalization>(node.op));
  if (!runs.has_value()) return 0;
  if (runs->over_channels) return AlongChannels(Quarter(runs->length));
  const int64_t texels = runs->length * std::max(runs->group_slices, 1);
  return 2 * Quarter(texels) / (texels >= kManyTexelsOfSoftware ? 32 : 8);  // two passes, four texels an iteration
}

int64_t ChannelTurns(const Graph& graph, const Node& node) {
  const Shape& in = ShapeOf(graph, node, 0);
  return AlongChannels(Quarter(in[in.rank() - 1]));
}

int64_t ArgReduceTurns(const Graph& graph, const Node& node) {
  return Along(ShapeOf(graph, node, 0), std::get<ArgReduce>(node.op).axis);
}

int64_t CumSumTurns(const Graph& graph, const Node& node) {
  return Along(ShapeOf(graph, node, 0), std::get<CumSum>(node.op).axis);
}

int64_t TopKTurns(const Graph& graph, const Node& node) {
  return Along(ShapeOf(graph, node, 0), -1) * std::max(std::get<TopK>(node.op).k, 1);
}

int64_t MostLoopTurns(const DeviceInfo& device) {
  return Applies(Rule::kLoopLimit, device) ? kMostTurns : std::numeric_limits<int64_t>::max();
}

int32_t LanesOfReduction(int64_t shared_length, int64_t output_texels) {
  constexpr int64_t kLongReduction = 128, kVeryLongReduction = 1 << 20, kFewTexels = 1024;
  // A large reduction to few texels leaves most of a device idle unless work items share it.
  if (shared_length < kLongReduction || output_texels > kFewTexels) return 1;
  return shared_length < kVeryLongReduction ? 32 : 128;
}

}  // namespace hearth
