#include "core/lowering/loop_turns.h"

#include <algorithm>
#include <limits>

#include "core/graph/ops/mean_variance.h"

namespace hearth {
namespace {

constexpr int64_t kMostTurns = 60000;  // with room for the loops that are not counted

int64_t Quarter(int64_t channels) {
  return (channels + 3) / 4;
}

class TurnsOfOp {
 public:
  TurnsOfOp(const Graph& graph, const Node& node) : graph_(graph), node_(node) {}

  int64_t operator()(const Conv2D&) const { return Taps(1) * Quarter(ShapeOf(1)[3]); }
  int64_t operator()(const TransposeConv&) const { return Taps(1) * Quarter(ShapeOf(1)[3]); }
  int64_t operator()(const DepthwiseConv2D&) const { return Taps(1); }
  int64_t operator()(const Pool2D& pool) const { return int64_t{pool.kernel_h} * pool.kernel_w; }
  int64_t operator()(const MaxPoolArgmax2D& pool) const { return int64_t{pool.kernel_h} * pool.kernel_w; }
  int64_t operator()(const FullyConnected&) const { return Quarter(ShapeOf(1)[1]); }
  int64_t operator()(const BatchMatMul& product) const {
    const Shape& a = ShapeOf(0);
    return Quarter(a[a.rank() - (product.adjoint_a ? 2 : 1)]);
  }
  int64_t operator()(const Reduce& reduce) const {
    const Shape& in = ShapeOf(0);
    int64_t elements = 1;
    for (int d = 0; d < in.rank(); ++d) elements *= (reduce.axes_mask >> d & 1) != 0 ? in[d] : 1;
    const bool over_channels = in.rank() > 0 && (reduce.axes_mask >> (in.rank() - 1) & 1) != 0;
    const int64_t turns = over_channels ? Quarter(elements) : elements;
    const Bhwc out = ToBhwc(graph_.value(node_.outputs[0]).desc.shape);
    return turns / LanesOfReduction(turns, out.pixels() * out.slices());
  }
  int64_t operator()(const MeanVarianceNormalization& norm) const {
    const std::optional<NormalizedRuns> runs = NormalizedRunsOf(ShapeOf(0), norm);
    if (!runs.has_value()) return 0;
    if (runs->over_channels) return AlongChannels(Quarter(runs->length));
    const int64_t texels = runs->length * std::max(runs->group_slices, 1);
    return 2 * Quarter(texels) / (texels >= kManyTexelsOfSoftware ? 32 : 8);  // twice the texels of a run, four a turn
  }
  int64_t operator()(const Softmax&) const { return AlongChannels(Quarter(ShapeOf(0)[ShapeOf(0).rank() - 1])); }
  int64_t operator()(const LogSoftmax&) const { return AlongChannels(Quarter(ShapeOf(0)[ShapeOf(0).rank() - 1])); }
  int64_t operator()(const L2Normalization&) const { return AlongChannels(Quarter(ShapeOf(0)[ShapeOf(0).rank() - 1])); }
  int64_t operator()(const ArgReduce& search) const { return Along(search.axis); }
  int64_t operator()(const CumSum& sum) const { return Along(sum.axis); }
  int64_t operator()(const TopK& top) const { return Along(-1) * std::max(top.k, 1); }
  template <typename Other>
  int64_t operator()(const Other&) const {
    return 0;
  }

 private:
  // Three times the texels of a pixel, as ChannelLanes (ops/lowering_support.h) shares them.
  static int64_t AlongChannels(int64_t slices) { return 3 * slices / (slices >= kManySlicesOfSoftware ? 32 : 1); }
  const Shape& ShapeOf(size_t input) const { return graph_.value(node_.inputs[input]).desc.shape; }
  int64_t Taps(size_t filter) const { return int64_t{ShapeOf(filter)[1]} * ShapeOf(filter)[2]; }
  int64_t Along(int32_t axis) const {
    const Shape& in = ShapeOf(0);
    return in.rank() == 0 ? 1 : 4 * int64_t{in[axis < 0 ? axis + in.rank() : axis]};  // four elements a work item
  }

  const Graph& graph_;
  const Node& node_;
};

}  // namespace

int64_t LoopTurnsOf(const Graph& graph, const Node& node) {
  return std::visit(TurnsOfOp(graph, node), node.op);
}

int64_t MostLoopTurns(const DeviceInfo& device) {
  return device.is_software_gpu() ? kMostTurns : std::numeric_limits<int64_t>::max();
}

int32_t LanesOfReduction(int64_t shared_length, int64_t output_texels) {
  constexpr int64_t kLongReduction = 128, kVeryLongReduction = 1 << 20, kFewTexels = 1024;
  // A large reduction to few texels leaves most of a device idle unless work items share it.
  if (shared_length < kLongReduction || output_texels > kFewTexels) return 1;
  return shared_length < kVeryLongReduction ? 32 : 128;
}

}  // namespace hearth
