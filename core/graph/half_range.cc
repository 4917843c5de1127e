#include "core/graph/half_range.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <variant>

#include "core/graph/op_def.h"
#include "core/graph/quantize.h"
#include "core/graph/value_analysis.h"

namespace hearth {
namespace {

// What float16 holds; a larger number is stored as this one.
constexpr float kLargestFloat16 = 65504;
// Stands for what nothing bounds: pixels, coordinates and results of trained layers are usually smaller. Not a bound.
constexpr float kUsual = 1024;
// Constants of more elements are not read only to estimate what they scale.
constexpr int64_t kMostElementsToRead = int64_t{1} << 20;

// How large values may well become: LargestMagnitudes where that is finite, else an estimate from the operands. Sums of
// two keep the order of magnitude, or residual networks would grow without end; layers with weights start anew.
class Estimates {
 public:
  explicit Estimates(const Graph& graph)
      : graph_(graph),
        sizes_(LargestMagnitudes(graph)),
        bounds_(sizes_),
        averages_(graph.values().size()),
        beyond_half_(graph.values().size()) {
    for (float& size : sizes_) size = std::min(size, kUsual);
  }

  std::vector<bool> FindBeyondHalf() {
    do {
      for (const Node& node : graph_.nodes()) Follow(node);
    } while (TieStates());
    return std::move(beyond_half_);
  }

 private:
  void Follow(const Node& node) {
    const bool has_weights = OpDefOf(node.op).Has(kTakesStoredConstants);
    for (const ValueId input : Present(node.inputs)) {
      if (graph_.IsConstant(input) && !has_weights) Read(input);
    }
    for (const ValueId output : node.outputs) {
      if (!IsPlainFloat32(graph_.value(output).desc)) continue;
      sizes_[output] = std::min(OfNode(node), bounds_[output]);
      averages_[output] = std::holds_alternative<Softmax>(node.op) ||
                          (OpDefOf(node.op).Has(kMovesElements) && averages_[node.inputs[0]]);
      beyond_half_[output] = beyond_half_[output] || sizes_[output] > kLargestFloat16;
    }
  }

  void Read(ValueId constant) {
    const TensorDesc& desc = graph_.value(constant).desc;
    if (!IsPlainFloat(desc) || desc.shape.element_count() > kMostElementsToRead) return;
    const float largest = LargestMagnitudeOf(graph_, constant);
    if (std::isnan(largest)) return;
    sizes_[constant] = largest;
    beyond_half_[constant] = largest > kLargestFloat16;
  }

  float In(const Node& node, size_t k) const {
    return k < node.inputs.size() && node.inputs[k] != kNoValue ? sizes_[node.inputs[k]] : 0;
  }
  float LargestIn(const Node& node) const {
    float largest = 0;
    for (size_t k = 0; k < node.inputs.size(); ++k) largest = std::max(largest, In(node, k));
    return largest;
  }
  // The magnitude of a constant operand of one element.
  std::optional<float> Number(const Node& node, size_t k) const {
    const ValueId value = node.inputs[k];
    const bool is_number = graph_.IsConstant(value) && graph_.value(value).desc.shape.element_count() == 1;
    return is_number ? std::optional(sizes_[value]) : std::nullopt;
  }

  float OfNode(const Node& node) const {
    if (const auto* unary = std::get_if<Unary>(&node.op)) return OfUnaryNode(node, unary->kind);
    if (const auto* binary = std::get_if<Binary>(&node.op)) return OfBinaryNode(node, binary->kind);
    if (const auto* reduce = std::get_if<Reduce>(&node.op)) return OfReduction(node, reduce->kind);
    const Shape& shape = node.inputs.empty() ? Shape() : graph_.value(node.inputs[0]).desc.shape;
    if (std::holds_alternative<CumSum>(node.op)) return In(node, 0) * static_cast<float>(shape.element_count());
    if (MultipliesTwoValues(node)) {
      if (averages_[node.inputs[0]]) return In(node, 1);
      return In(node, 0) * In(node, 1) * static_cast<float>(SumLength(node));
    }
    if (IsOneOf<Gather, GatherNd>(node.op)) return In(node, 0);
    const bool keeps_size = OpDefOf(node.op).Has(kMovesElements) ||
                            IsOneOf<Concat, Select, SelectRows, AddN, Resize, Pool2D, Cast, PRelu, TopK>(node.op);
    return keeps_size ? LargestIn(node) : kUsual;
  }

  // Scores of attention, and filters that are computed.
  bool MultipliesTwoValues(const Node& node) const {
    const bool is_product = IsOneOf<BatchMatMul, FullyConnected, Conv2D, DepthwiseConv2D, TransposeConv>(node.op);
    return is_product && !graph_.IsConstant(node.inputs[0]) && !graph_.IsConstant(node.inputs[1]);
  }
  int64_t SumLength(const Node& node) const {
    const Shape &x = graph_.value(node.inputs[0]).desc.shape, &out = graph_.value(node.outputs[0]).desc.shape;
    if (const auto* product = std::get_if<BatchMatMul>(&node.op)) return x[x.rank() - (product->adjoint_a ? 2 : 1)];
    const int64_t channels = std::max(1, out[out.rank() - 1]);
    return std::max<int64_t>(1, graph_.value(node.inputs[1]).desc.shape.element_count() / channels);
  }

  float OfUnaryNode(const Node& node, UnaryKind kind) const {
    const float x = In(node, 0);
    switch (kind) {
      case UnaryKind::kSquare: return x * x;
      case UnaryKind::kSqrt: return std::sqrt(x);
      case UnaryKind::kExp: return IsBelowItsMaximum(node.inputs[0]) ? 1 : std::exp(x);
      case UnaryKind::kRsqrt:
      case UnaryKind::kLog: return kUsual;
      default: return x;
    }
  }

  float OfBinaryNode(const Node& node, BinaryKind kind) const {
    const float a = In(node, 0), b = In(node, 1);
    switch (kind) {
      case BinaryKind::kMul: return a * b;
      case BinaryKind::kSquaredDifference: return std::max(a, b) * std::max(a, b);
      case BinaryKind::kDiv:
      case BinaryKind::kFloorDiv: return Number(node, 1).value_or(0) > 0 ? a / b : kUsual;
      case BinaryKind::kPow:
        return Number(node, 1).has_value() ? std::pow(std::max(a, 1.0f), b) : std::numeric_limits<float>::infinity();
      default: return std::max(a, b);
    }
  }

  float OfReduction(const Node& node, ReduceKind kind) const {
    const float x = In(node, 0);
    const Shape &in = graph_.value(node.inputs[0]).desc.shape, &out = graph_.value(node.outputs[0]).desc.shape;
    const float count =
        static_cast<float>(in.element_count()) / static_cast<float>(std::max<int64_t>(1, out.element_count()));
    if (kind == ReduceKind::kSum) return x * count;
    return kind == ReduceKind::kProd && x > 1 ? std::pow(x, count) : x;
  }

  // x - max(x), as a softmax in parts has it.
  bool IsBelowItsMaximum(ValueId value) const {
    const Node* difference = MakerOf(value);
    const auto* binary = difference == nullptr ? nullptr : std::get_if<Binary>(&difference->op);
    if (binary == nullptr || binary->kind != BinaryKind::kSub) return false;
    const Node* maximum = MakerOf(difference->inputs[1]);
    const auto* reduce = maximum == nullptr ? nullptr : std::get_if<Reduce>(&maximum->op);
    return reduce != nullptr && reduce->kind == ReduceKind::kMax && maximum->inputs[0] == difference->inputs[0];
  }
  const Node* MakerOf(ValueId value) const {
    const int producer = producers_[value];
    return producer < 0 ? nullptr : &graph_.nodes()[producer];
  }

  // A state is stored as its next content is. True if that changed one.
  bool TieStates() {
    bool changed = false;
    for (const StatePair& state : graph_.states) {
      if (state.written == kNoValue || beyond_half_[state.read] || !beyond_half_[state.written]) continue;
      beyond_half_[state.read] = changed = true;
      sizes_[state.read] = sizes_[state.written];
    }
    return changed;
  }

  const Graph& graph_;
  std::vector<int> producers_ = graph_.Producers();
  std::vector<float> sizes_;
  const std::vector<float> bounds_;
  std::vector<bool> averages_;  // rows of positive numbers whose sum is 1
  std::vector<bool> beyond_half_;
};

}  // namespace

std::vector<bool> ValuesBeyondHalf(const Graph& graph) {
  return Estimates(graph).FindBeyondHalf();
}

}  // namespace hearth
