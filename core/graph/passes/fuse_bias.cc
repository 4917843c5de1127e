// conv(x) + c, conv(x) - c and conv(x) * s with a constant number or one per output channel: batch normalization that
// the converter did not fold.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "core/base/error.h"
#include "core/base/numbers.h"
#include "core/graph/passes/graph_rewriter.h"
#include "core/graph/quantize.h"

namespace hearth {
namespace {

// One number per output channel.
using PerChannel = std::vector<float>;

// A binary node `weighted op constant`, as numbers.
struct Affine {
  Node* weighted = nullptr;  // without an activation; nothing else reads its output
  Activation* activation = nullptr;
  BinaryKind kind = BinaryKind::kAdd;
  PerChannel constant;
};

// Asked before a number is repeated for each channel: a computed filter can have 2^31 of them.
bool HasRoom(const Graph& graph, const Node& weighted, int32_t channels, BinaryKind kind) {
  const size_t filter_bytes = kind == BinaryKind::kMul ? graph.value(weighted.inputs[1]).desc.size_bytes() : 0;
  return graph.HasRoomFor(sizeof(float) * static_cast<size_t>(channels) + filter_bytes);
}

std::optional<Affine> MatchAffine(GraphRewriter& rewriter, const Node& node) {
  const Graph& graph = rewriter.graph();
  const auto* binary = std::get_if<Binary>(&node.op);
  if (binary == nullptr || node.inputs.size() != 2) return std::nullopt;
  const bool commutes = binary->kind == BinaryKind::kAdd || binary->kind == BinaryKind::kMul;
  if (!commutes && binary->kind != BinaryKind::kSub) return std::nullopt;
  const int constant = commutes && graph.IsConstant(node.inputs[0]) ? 0 : 1;
  const ValueId inner = node.inputs[1 - constant];
  if (inner == kNoValue) return std::nullopt;
  const TensorDesc& desc = graph.value(inner).desc;
  // An equal description also shows that the constant did not broadcast the value to more elements.
  if (!IsPlainFloat32(desc) || desc.shape.rank() == 0 || desc != graph.value(node.outputs[0]).desc) return std::nullopt;
  if (!rewriter.IsReadOnce(inner)) return std::nullopt;
  Node* weighted = rewriter.ProducerOf(inner);
  if (weighted == nullptr || !IsOneOf<Conv2D, DepthwiseConv2D, FullyConnected>(weighted->op)) return std::nullopt;
  Activation* activation = ActivationAttribute(weighted->op);
  if (*activation != Activation::kNone) return std::nullopt;
  const int32_t channels = desc.shape[desc.shape.rank() - 1];
  if (!HasRoom(graph, *weighted, channels, binary->kind)) return std::nullopt;
  auto numbers = ReadPerChannel(graph, node.inputs[constant], channels);
  if (!numbers.has_value()) return std::nullopt;
  return Affine{weighted, activation, binary->kind, std::move(*numbers)};
}

// The node's bias as floats, zeros if it has none. Nothing if the bias can't be rewritten.
std::optional<PerChannel> ReadBias(const Graph& graph, const Node& node, size_t channels) {
  if (InputOf(node, 2) == kNoValue) return PerChannel(channels, 0.0f);
  std::optional<PerChannel> bias = ReadPerChannel(graph, node.inputs[2], static_cast<int32_t>(channels));
  return bias.has_value() && bias->size() == channels ? bias : std::nullopt;
}

// The numbers of a filter with those of each output channel in a row, or in a column. Of one that lies in a file in
// another order they are in that order: to look at them, nobody has to put them in order.
struct ByChannel {
  std::vector<float> numbers;
  bool are_rows = false;
};

std::optional<ByChannel> ReadByChannel(const Graph& graph, ValueId filter, size_t channels, bool channels_last) {
  const auto whole = [&]() -> std::optional<ByChannel> {
    std::optional<std::vector<float>> numbers = FloatsOf(graph, filter);
    return numbers ? std::optional(ByChannel{*std::move(numbers), !channels_last}) : std::nullopt;
  };
  if (!graph.IsConstant(filter) || !IsPlainFloat32(graph.value(filter).desc)) return std::nullopt;
  const Constant& constant = graph.constant(*graph.value(filter).constant);
  if (constant.elements == nullptr || !constant.elements->is_only_view()) return whole();
  const StridedView& view = constant.elements->form().view;  // a transpose, or several
  if (view.digits.size() < 2) return whole();
  const auto [radix, stride] = channels_last ? view.digits.back() : view.digits.front();
  const size_t count = constant.bytes.size() / sizeof(float);
  const bool are_rows = stride == static_cast<int64_t>(count / channels);
  if (radix != static_cast<int64_t>(channels) || (!are_rows && stride != 1)) return whole();
  constant.was_read.Set();
  ByChannel read{std::vector<float>(count), are_rows};
  std::memcpy(read.numbers.data(), constant.bytes.data(), constant.bytes.size());
  return read;
}

// The filter's numbers with each output channel scaled; nothing if it is not a float32 constant, or float16 could not
// hold it as well. Output channels come last in depthwise filters and first in others.
std::optional<std::vector<float>> ScaledFilter(const Graph& graph, const Node& node, const PerChannel& scales) {
  const bool channels_last = std::holds_alternative<DepthwiseConv2D>(node.op);
  std::optional<ByChannel> filter = ReadByChannel(graph, node.inputs[1], scales.size(), channels_last);
  if (!filter.has_value() || filter->numbers.size() % scales.size() != 0) return std::nullopt;
  const PerChannel largest =
      filter->are_rows ? ScaleRows(filter->numbers, scales) : ScaleColumns(filter->numbers, scales);
  // Depthwise filters have 32 bits with every precision.
  if (!channels_last && !KeepRangeOfHalves(largest, scales)) return std::nullopt;
  if (!AllFinite(filter->numbers)) return std::nullopt;  // it could overflow where scaling the sum did not
  return std::move(filter->numbers);
}

// Multiplies filter and bias; false if they can't be rewritten.
bool Scale(GraphRewriter& rewriter, Node& node, const PerChannel& scales, PerChannel& bias) {
  const Graph& graph = rewriter.graph();
  std::optional<std::vector<float>> filter = ScaledFilter(graph, node, scales);
  if (!filter.has_value()) return false;
  for (size_t i = 0; i < bias.size(); ++i) bias[i] *= scales[i];
  if (!AllFinite(bias)) return false;
  SetScaledFilter(rewriter, node, {!std::holds_alternative<DepthwiseConv2D>(node.op), scales}, *filter);
  return true;
}

bool FuseInto(GraphRewriter& rewriter, const Affine& affine) {
  Node& weighted = *affine.weighted;
  const int32_t channels = static_cast<int32_t>(affine.constant.size());
  std::optional<PerChannel> bias = ReadBias(rewriter.graph(), weighted, affine.constant.size());
  if (!bias.has_value() || bias->empty()) return false;
  const bool had_bias = InputOf(weighted, 2) != kNoValue;
  if (affine.kind == BinaryKind::kMul) {
    if (!Scale(rewriter, weighted, affine.constant, *bias)) return false;
    if (!had_bias) return true;
  } else {
    const float sign = affine.kind == BinaryKind::kSub ? -1.0f : 1.0f;
    for (int32_t i = 0; i < channels; ++i) (*bias)[i] += sign * affine.constant[i];
  }
  const std::string name = rewriter.graph().value(weighted.outputs[0]).name + "/bias";
  rewriter.SetInput(weighted, 2, rewriter.graph().AddFloatConstant(name, Shape{channels}, *bias));
  return true;
}

}  // namespace

Result<Verdict> FuseBias(Graph& graph, const DeviceInfo&) {
  return RewriteEach(graph, [&](GraphRewriter& rewriter, const Node& node) {
    const std::optional<Affine> affine = MatchAffine(rewriter, node);
    if (!affine.has_value() || !FuseInto(rewriter, *affine)) return;
    *affine->activation = std::get<Binary>(node.op).activation;
    rewriter.TakeOver(*affine->weighted, node.outputs[0]);
  });
}

}  // namespace hearth
