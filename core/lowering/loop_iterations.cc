#include "core/lowering/loop_iterations.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "core/base/numbers.h"
#include "core/device/device_rules.h"
#include "core/graph/ops/recurrent.h"

namespace hearth {
namespace {

constexpr int64_t kMostIterations = 60000;  // leaves room for loops that are not counted

const Shape& ShapeOf(const Graph& graph, const Node& node, size_t input) {
  return graph.value(node.inputs[input]).desc.shape;
}

int64_t SumIterations(int64_t channels) {
  return LoopOf(Tiles(channels, 4));
}

// A loop over a window ends with the image.
int64_t WindowIterations(const Bhwc& in, int32_t kernel_h, int32_t kernel_w) {
  return LoopOf(std::min(kernel_h, in.h), LoopOf(std::min(kernel_w, in.w)));
}

// A work item makes four elements.
int64_t Along(const Shape& in, int32_t axis) {
  return in.rank() == 0 ? 1 : 4 * int64_t{in[axis < 0 ? axis + in.rank() : axis]};
}

// By how many times fewer items than wanted may share a loop on this device, at most: FittingLanes (lowering_support.h)
// halves them until the group and its memory fit.
int64_t MissingItems(const DeviceInfo& device) {
  constexpr uint32_t kBytesOfItem =
      16384 / kMostSharingItems;  // no kernel takes more than the least of GLES and Vulkan
  const uint32_t items = std::min({device.max_local_size[0], device.max_local_invocations,
                                   static_cast<uint32_t>(device.local_memory_bytes / kBytesOfItem)});
  return kMostSharingItems / std::bit_floor(std::clamp<uint32_t>(items, 1, kMostSharingItems));
}

}  // namespace

int64_t ShortLoops(const Graph& /*graph*/, const Node& /*node*/) {
  return 0;
}

int64_t FilterIterations(const Graph& graph, const Node& node) {
  const Shape& filter = ShapeOf(graph, node, 1);
  return LoopOf(filter[1], LoopOf(filter[2], SumIterations(filter[3])));
}

int64_t DepthwiseIterations(const Graph& graph, const Node& node) {
  const Shape& filter = ShapeOf(graph, node, 1);
  return LoopOf(filter[1], LoopOf(filter[2]));
}

int64_t PoolIterations(const Graph& graph, const Node& node) {
  const auto& pool = std::get<Pool2D>(node.op);
  return WindowIterations(ToBhwc(ShapeOf(graph, node, 0)), pool.kernel_h, pool.kernel_w);
}

int64_t PoolArgmaxIterations(const Graph& graph, const Node& node) {
  const auto& pool = std::get<MaxPoolArgmax2D>(node.op);
  return WindowIterations(ToBhwc(ShapeOf(graph, node, 0)), pool.kernel_h, pool.kernel_w);
}

// Rows of whole pixels may become a convolution (product_lower.cc), whose channels are counted pixel by pixel:
// more iterations than those of a row as a whole.
int64_t FullyConnectedIterations(const Graph& graph, const Node& node) {
  const int32_t depth = ShapeOf(graph, node, 1)[1], channels = ToBhwc(ShapeOf(graph, node, 0)).c;
  const bool may_be_pixels = channels > 0 && depth % channels == 0 && graph.IsConstant(node.inputs[1]);
  return may_be_pixels ? LoopOf(1, LoopOf(depth / channels, SumIterations(channels))) : SumIterations(depth);
}

int64_t BatchMatMulIterations(const Graph& graph, const Node& node) {
  const Shape& a = ShapeOf(graph, node, 0);
  return SumIterations(a[a.rank() - (std::get<BatchMatMul>(node.op).adjoint_a ? 2 : 1)]);
}

int64_t ChannelIterations(const Graph& graph, const Node& node) {
  return IterationsAlongChannels(ToBhwc(ShapeOf(graph, node, 0)).slices());
}

int64_t ArgReduceIterations(const Graph& graph, const Node& node) {
  return Along(ShapeOf(graph, node, 0), std::get<ArgReduce>(node.op).axis);
}

int64_t CumSumIterations(const Graph& graph, const Node& node) {
  return Along(ShapeOf(graph, node, 0), std::get<CumSum>(node.op).axis);
}

int64_t TopKIterations(const Graph& graph, const Node& node) {
  return Along(ShapeOf(graph, node, 0), -1) * std::max(std::get<TopK>(node.op).k, 1);
}

// Sums of products, and the mean and variance of a gate for each of a texel's channels (lstm_normalize.kernel).
int64_t LstmIterations(const Graph& graph, const Node& node) {
  int64_t most = InputOf(node, kLstmNormalization) == kNoValue ? 0 : 8 * LoopOf(ShapeOf(graph, node, kLstmC)[1]);
  for (const LstmInput matrix : {kLstmWeights, kLstmRecurrent, kLstmProjection}) {
    if (InputOf(node, matrix) != kNoValue) most = std::max(most, SumIterations(ShapeOf(graph, node, matrix)[1]));
  }
  return most;
}

int64_t RnnIterations(const Graph& graph, const Node& node) {
  return std::max(SumIterations(ShapeOf(graph, node, 2)[1]), SumIterations(ShapeOf(graph, node, 3)[1]));
}

// The features' product, and a loop for each of a texel's channels (svdf_sum.kernel).
int64_t SvdfIterations(const Graph& graph, const Node& node) {
  const int64_t terms = int64_t{std::get<Svdf>(node.op).rank} * ShapeOf(graph, node, 3)[1];
  return std::max(SumIterations(ShapeOf(graph, node, 2)[1]), 4 * LoopOf(terms));
}

int64_t IterationsAlongChannels(int64_t slices) {
  const int64_t lanes = slices >= kManySlicesOfSoftware ? 32 : 1;
  return 3 * LoopOf(Tiles(slices, lanes)) + 2 * LoopOf(lanes);
}

int64_t MostLoopIterations(const DeviceInfo& device) {
  if (!Applies(Rule::kLoopLimit, device)) return std::numeric_limits<int64_t>::max();
  return kMostIterations / MissingItems(device);  // the others take the iterations of those that are missing
}

}  // namespace hearth
