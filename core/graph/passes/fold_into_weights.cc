// conv(x * s), conv(x + c) and conv(x - c) with a constant number or one per input channel: normalization of the input
// becomes part of filter and bias.
#include <algorithm>
#include <cmath>
#include <optional>

#include "core/base/error.h"
#include "core/base/numbers.h"
#include "core/graph/passes/graph_rewriter.h"
#include "core/graph/quantize.h"

namespace hearth {
namespace {

// x * scale, x + offset or x - offset with a constant: one number, or one per channel of x.
struct InputChange {
  ValueId x = kNoValue;
  BinaryKind kind = BinaryKind::kAdd;
  ValueId constant = kNoValue;
  int32_t channels = 0;
};

std::optional<InputChange> MatchChange(const Graph& graph, const Node& node) {
  const auto* binary = std::get_if<Binary>(&node.op);
  if (binary == nullptr || binary->activation != Activation::kNone) return std::nullopt;
  const bool is_sub = binary->kind == BinaryKind::kSub;
  if (!is_sub && binary->kind != BinaryKind::kAdd && binary->kind != BinaryKind::kMul) return std::nullopt;
  const int constant = !is_sub && graph.IsConstant(node.inputs[0]) ? 0 : 1;
  const ValueId x = node.inputs[1 - constant], number = node.inputs[constant];
  const TensorDesc& desc = graph.value(x).desc;
  if (graph.IsConstant(x) || !IsPlainFloat32(desc) || desc.shape.rank() == 0 ||
      desc != graph.value(node.outputs[0]).desc)
    return std::nullopt;
  const int32_t channels = desc.shape[desc.shape.rank() - 1];
  if (!IsPerChannel(graph, number, channels)) return std::nullopt;
  return InputChange{x, binary->kind, number, channels};
}

// The input and output channel of each filter element. A filter has rows of all output channels if it is depthwise,
// else of all input channels.
struct FilterOrder {
  int64_t inputs = 1, outputs = 1;
  bool depthwise = false;
  int64_t multiplier = 1;

  // The number of its input channel for each element of a row.
  std::vector<float> InRow(const std::vector<float>& of_inputs) const {
    if (!depthwise) return of_inputs;
    std::vector<float> row;
    for (int64_t k = 0; k < outputs; ++k) row.push_back(of_inputs[static_cast<size_t>(k / multiplier)]);
    return row;
  }
};

// Nothing if an element of the filter meets several input channels: groups, rows that end inside a pixel.
std::optional<FilterOrder> OrderOf(const Graph& graph, const Node& node, int64_t channels) {
  const Shape& filter = graph.value(node.inputs[1]).desc.shape;
  if (std::holds_alternative<DepthwiseConv2D>(node.op)) {
    return FilterOrder{channels, filter[3], true, filter[3] / channels};
  }
  if (std::holds_alternative<Conv2D>(node.op) && filter[3] == channels) return FilterOrder{channels, filter[0]};
  if (std::holds_alternative<FullyConnected>(node.op) && filter[1] == channels) return FilterOrder{channels, filter[0]};
  return std::nullopt;
}

// Padded elements are 0, without the offset.
bool IsPadded(const Graph& graph, Node& node) {
  const Window2D* window = ZeroPaddedWindow(node.op);
  if (window == nullptr) return false;
  const Shape& x = graph.value(node.inputs[0]).desc.shape;
  const Shape& filter = graph.value(node.inputs[1]).desc.shape;
  return HasPixels(ResolvePadding(*window, x[1], x[2], filter[1], filter[2]));
}

// The change's numbers, one per channel; nothing if they can't be read.
std::optional<std::vector<float>> NumbersOf(const Graph& graph, const InputChange& change) {
  std::optional<std::vector<float>> numbers = ReadPerChannel(graph, change.constant, change.channels);
  if (numbers && change.kind == BinaryKind::kSub) {
    for (float& number : *numbers) number = -number;
  }
  return numbers;
}

bool ScaleFilter(GraphRewriter& rewriter, Node& node, const FilterOrder& order, const InputChange& change) {
  Graph& graph = rewriter.graph();
  std::optional<std::vector<float>> filter = FloatsOf(graph, node.inputs[1]);
  if (!filter) return false;
  const std::optional<std::vector<float>> numbers = NumbersOf(graph, change);
  if (!numbers) return false;
  std::vector<float> in_row = order.InRow(*numbers);
  const std::vector<float> largest = ScaleColumns(*filter, in_row);
  // Depthwise filters have 32 bits with every precision.
  if ((!order.depthwise && !KeepRangeOfHalves(largest, *numbers)) || !AllFinite(*filter)) return false;
  SetScaledFilter(rewriter, node, {false, std::move(in_row)}, *filter);
  return true;
}

bool ShiftBias(GraphRewriter& rewriter, Node& node, const FilterOrder& order, const InputChange& change) {
  Graph& graph = rewriter.graph();
  if (IsPadded(graph, node)) return false;
  const std::optional<std::vector<float>> filter = FloatsOf(graph, node.inputs[1]);
  if (!filter) return false;  // only a filter that the file holds bounds the number of channels
  const std::optional<std::vector<float>> numbers = NumbersOf(graph, change);
  const bool has_bias = InputOf(node, 2) != kNoValue;
  std::optional<std::vector<float>> bias =
      has_bias ? FloatsOf(graph, node.inputs[2]) : std::vector<float>(static_cast<size_t>(order.outputs), 0.0f);
  if (!numbers || !bias || static_cast<int64_t>(bias->size()) != order.outputs) return false;
  std::vector<double> sums(bias->begin(), bias->end());
  const std::vector<float> row = order.InRow(*numbers);
  const size_t of_output = filter->size() / sums.size();
  for (size_t first = 0; first < filter->size(); first += row.size()) {
    double* sum = &sums[order.depthwise ? 0 : first / of_output];
    const size_t step = order.depthwise ? 1 : 0;
    for (size_t k = 0; k < row.size(); ++k) sum[k * step] += static_cast<double>((*filter)[first + k]) * row[k];
  }
  for (size_t o = 0; o < sums.size(); ++o) (*bias)[o] = static_cast<float>(sums[o]);
  if (!AllFinite(*bias)) return false;
  const std::string name = graph.value(node.outputs[0]).name + "/bias";
  rewriter.SetInput(node, 2, graph.AddFloatConstant(name, Shape{static_cast<int32_t>(order.outputs)}, *bias));
  return true;
}

}  // namespace

Result<Verdict> FoldIntoWeights(Graph& graph, const DeviceInfo&) {
  constexpr size_t kMostCopiedBytes = 1 << 20;
  return RewriteEach(graph, [&](GraphRewriter& rewriter, Node& node) {
    if (node.inputs.size() < 2 || !rewriter.IsReadOnce(node.inputs[0])) return;
    const Node* producer = rewriter.ProducerOf(node.inputs[0]);
    const std::optional<InputChange> change = producer == nullptr ? std::nullopt : MatchChange(graph, *producer);
    if (!change || !IsPlainFloat32(graph.value(node.outputs[0]).desc)) return;
    const std::optional<FilterOrder> order = OrderOf(graph, node, change->channels);
    if (!order || !graph.HasRoomFor(graph.value(node.inputs[1]).desc.size_bytes())) return;
    const bool is_scale = change->kind == BinaryKind::kMul;
    // Layers that share large weights, as all blocks of some transformers do, would each have their own.
    const bool is_copied = is_scale && !rewriter.IsReadOnce(node.inputs[1]);
    if (is_copied && graph.value(node.inputs[1]).desc.size_bytes() > kMostCopiedBytes) return;
    const bool folded =
        is_scale ? ScaleFilter(rewriter, node, *order, *change) : ShiftBias(rewriter, node, *order, *change);
    if (!folded) return;
    const ValueId between = node.inputs[0];
    rewriter.SetInput(node, 0, change->x);
    rewriter.RemoveProducerOf(between);
  });
}

}  // namespace hearth
