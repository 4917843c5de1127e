// Layer and instance normalization as converters write it, found from its square root on:
//
//   variance  mean(squared_difference(x, mean(x))), or of (x - mean(x)) squared by square, pow or mul with itself
//   spread    rsqrt(variance + epsilon), or sqrt
//   result    (x - mean) * spread, or (x - mean) / sqrt; then * scale + offset
//   factored  x * (spread * scale) + (offset - mean * (spread * scale)), as TensorFlow's batch_normalization has it
//
// Scale and offset, both optional, have one number per element of the last dimension, constant or not.
#include <algorithm>
#include <cmath>
#include <optional>

#include "core/ops/mean_variance.h"
#include "core/passes/graph_rewriter.h"

namespace hearth {
namespace {

bool IsPlainFloat(const TensorDesc& desc) {
  return (desc.dtype == DType::kFloat32 || desc.dtype == DType::kFloat16) && !desc.quantization.has_value();
}

// The two inputs of a binary node, one of which is `known`: the other one.
ValueId OtherInput(const Node& node, ValueId known) {
  return node.inputs[0] == known ? node.inputs[1] : node.inputs[0];
}

class Match {
 public:
  explicit Match(GraphRewriter& rewriter) : rewriter_(rewriter), graph_(rewriter.graph()) {}

  // Whether the square root at `root` belongs to a normalization that nothing else looks into.
  bool Find(int root) {
    nodes_.push_back(root);
    const Node& node = rewriter_.node(root);
    if (!TakeVariance(node.inputs[0])) return false;
    const bool divides = std::get<Unary>(node.op).kind == UnaryKind::kSqrt;
    if (!(divides ? TakeQuotient(node.outputs[0]) : TakeProduct(node.outputs[0]))) return false;
    TakeScaleAndOffset();
    return IsWhole();
  }

  // The last node becomes the normalization, the others go.
  void Rewrite() {
    const auto channels = static_cast<size_t>(graph_.value(x_).desc.shape[graph_.value(x_).desc.shape.rank() - 1]);
    Node& last = rewriter_.node(nodes_.back());
    const MeanVarianceNormalization op = {axes_mask_, epsilon_, std::get<Binary>(last.op).activation};
    rewriter_.Replace(last, op, {x_, Spread(scale_, channels), Spread(offset_, channels)});
    nodes_.pop_back();
    for (int index : nodes_) rewriter_.Remove(index);
  }

 private:
  // The node that makes `id` as an operation of this kind without activation; it becomes part of the match.
  const Node* TakeBinary(ValueId id, BinaryKind kind) {
    const int index = rewriter_.ProducerIndexOf(id);
    const Binary* binary = index < 0 ? nullptr : std::get_if<Binary>(&rewriter_.node(index).op);
    if (binary == nullptr || binary->kind != kind || binary->activation != Activation::kNone) return nullptr;
    Take(index);
    return &rewriter_.node(index);
  }
  void Take(int index) {
    if (std::find(nodes_.begin(), nodes_.end(), index) == nodes_.end()) nodes_.push_back(index);
  }

  // The node where it is a mean that broadcasts to what it is the mean of: dimensions stay with size 1, or only the
  // last one is left.
  const Reduce* MeanAt(int index) const {
    const Reduce* reduce = index < 0 ? nullptr : std::get_if<Reduce>(&rewriter_.node(index).op);
    if (reduce == nullptr || reduce->kind != ReduceKind::kMean || reduce->axes_mask == 0) return nullptr;
    const int rank = graph_.value(rewriter_.node(index).inputs[0]).desc.shape.rank();
    return reduce->keep_dims || reduce->axes_mask == (1u << (rank - 1)) - 1 ? reduce : nullptr;
  }
  // `id` is the mean of `of` over the axes.
  bool TakeMean(ValueId id, ValueId of) {
    const int index = rewriter_.ProducerIndexOf(id);
    const Reduce* reduce = MeanAt(index);
    if (reduce == nullptr || reduce->axes_mask != axes_mask_ || rewriter_.node(index).inputs[0] != of) return false;
    Take(index);
    x_ = of;
    mean_ = id;
    return true;
  }
  // `id` is x - mean(x).
  bool TakeCentered(ValueId id) {
    const int index = rewriter_.ProducerIndexOf(id);
    if (index < 0) return false;
    const Node& node = rewriter_.node(index);
    const auto* binary = std::get_if<Binary>(&node.op);
    const bool is_known = x_ == kNoValue || (binary != nullptr && node.inputs[0] == x_);
    if (binary == nullptr || binary->kind != BinaryKind::kSub || !is_known || !TakeMean(node.inputs[1], node.inputs[0]))
      return false;
    return TakeBinary(id, BinaryKind::kSub) != nullptr;
  }

  std::optional<float> ConstantNumber(ValueId id) const {
    if (!graph_.IsConstant(id) || graph_.value(id).desc.shape.element_count() != 1) return std::nullopt;
    const Result<std::vector<float>> number = ConstantAsFloats(graph_, id);
    return number.ok() ? std::optional(number->front()) : std::nullopt;
  }

  bool TakeVariance(ValueId with_epsilon) {
    const Node* add = TakeBinary(with_epsilon, BinaryKind::kAdd);
    if (add == nullptr) return false;
    const int constant = graph_.IsConstant(add->inputs[0]) ? 0 : 1;
    const std::optional<float> epsilon = ConstantNumber(add->inputs[constant]);
    if (!epsilon.has_value() || !std::isfinite(*epsilon) || *epsilon < 0) return false;
    epsilon_ = *epsilon;
    const int index = rewriter_.ProducerIndexOf(add->inputs[1 - constant]);
    const Reduce* reduce = MeanAt(index);
    if (reduce == nullptr) return false;
    axes_mask_ = reduce->axes_mask;
    Take(index);
    return TakeSquares(rewriter_.node(index).inputs[0]);
  }

  bool TakeSquares(ValueId squares) {
    const int index = rewriter_.ProducerIndexOf(squares);
    if (index < 0) return false;
    const Node& node = rewriter_.node(index);
    Take(index);
    if (const auto* unary = std::get_if<Unary>(&node.op)) {
      return unary->kind == UnaryKind::kSquare && TakeCentered(node.inputs[0]);
    }
    const auto* binary = std::get_if<Binary>(&node.op);
    if (binary == nullptr || binary->activation != Activation::kNone) return false;
    switch (binary->kind) {
      case BinaryKind::kSquaredDifference:
        return TakeMean(node.inputs[1], node.inputs[0]) || TakeMean(node.inputs[0], node.inputs[1]);
      case BinaryKind::kMul: return node.inputs[0] == node.inputs[1] && TakeCentered(node.inputs[0]);
      case BinaryKind::kPow: return ConstantNumber(node.inputs[1]) == 2.0f && TakeCentered(node.inputs[0]);
      default: return false;
    }
  }

  // The only node that reads `id`; -1 where there is no such one.
  int OnlyReaderOf(ValueId id) const {
    const std::vector<int> readers = rewriter_.ReadersOf(id);
    return readers.size() == 1 && !graph_.IsKept(id) ? readers.front() : -1;
  }
  bool IsBinary(int index, BinaryKind kind) const {
    const Binary* binary = index < 0 ? nullptr : std::get_if<Binary>(&rewriter_.node(index).op);
    return binary != nullptr && binary->kind == kind;
  }
  bool HasActivation(int index) const {
    return std::get<Binary>(rewriter_.node(index).op).activation != Activation::kNone;
  }
  ValueId OutputOf(int index) const { return rewriter_.node(index).outputs[0]; }

  // (x - mean) / root
  bool TakeQuotient(ValueId root) {
    const int div = OnlyReaderOf(root);
    if (!IsBinary(div, BinaryKind::kDiv) || rewriter_.node(div).inputs[1] != root) return false;
    if (!TakeCentered(rewriter_.node(div).inputs[0])) return false;
    Take(div);
    return true;
  }

  // (x - mean) * spread or the factored form, `spread` times a scale first where there is one.
  bool TakeProduct(ValueId spread) {
    int mul = OnlyReaderOf(spread);
    if (IsBinary(mul, BinaryKind::kMul) && !HasActivation(mul)) {
      const ValueId other = OtherInput(rewriter_.node(mul), spread);
      if (IsPerChannel(other) && !TakeCentered(other)) {
        scale_ = other;
        Take(mul);
        spread = OutputOf(mul);
        mul = OnlyReaderOf(spread);
      }
    }
    if (mul < 0) return TakeFactored(spread);
    if (!IsBinary(mul, BinaryKind::kMul) || !TakeCentered(OtherInput(rewriter_.node(mul), spread))) return false;
    Take(mul);
    return true;
  }

  // x * spread + (offset - mean * spread), or less mean * spread
  bool TakeFactored(ValueId spread) {
    const std::vector<int> readers = rewriter_.ReadersOf(spread);
    if (readers.size() != 2 || graph_.IsKept(spread)) return false;
    int of_x = readers[0], of_mean = readers[1];
    if (OtherInput(rewriter_.node(of_x), spread) != x_) std::swap(of_x, of_mean);
    for (int index : {of_x, of_mean}) {
      if (!IsBinary(index, BinaryKind::kMul) || HasActivation(index)) return false;
      Take(index);
    }
    if (OtherInput(rewriter_.node(of_x), spread) != x_ || OtherInput(rewriter_.node(of_mean), spread) != mean_)
      return false;
    const int shift = OnlyReaderOf(OutputOf(of_mean)), last = OnlyReaderOf(OutputOf(of_x));
    if (shift < 0 || last < 0) return false;
    return shift == last ? TakeDifference(last, of_x, of_mean) : TakeShifted(last, shift, of_x, of_mean);
  }
  bool TakeDifference(int last, int of_x, int of_mean) {
    const std::vector<ValueId> in_order = {OutputOf(of_x), OutputOf(of_mean)};
    if (!IsBinary(last, BinaryKind::kSub) || rewriter_.node(last).inputs != in_order) return false;
    Take(last);
    return true;
  }
  bool TakeShifted(int last, int shift, int of_x, int of_mean) {
    const Node& node = rewriter_.node(shift);
    const auto* unary = std::get_if<Unary>(&node.op);
    const bool is_negative = unary != nullptr && unary->kind == UnaryKind::kNeg;
    const bool is_offset = IsBinary(shift, BinaryKind::kSub) && !HasActivation(shift) &&
                           node.inputs[1] == OutputOf(of_mean) && IsPerChannel(node.inputs[0]);
    if (!is_negative && !is_offset) return false;
    if (is_offset) offset_ = node.inputs[0];
    if (OnlyReaderOf(OutputOf(shift)) != last || !IsBinary(last, BinaryKind::kAdd) ||
        OtherInput(rewriter_.node(last), OutputOf(shift)) != OutputOf(of_x))
      return false;
    Take(shift);
    Take(last);
    return true;
  }

  // Behind the result so far, as far as they go.
  void TakeScaleAndOffset() {
    for (BinaryKind kind : {BinaryKind::kMul, BinaryKind::kAdd}) {
      ValueId& operand = kind == BinaryKind::kMul ? scale_ : offset_;
      const ValueId result = OutputOf(nodes_.back());
      const int next = OnlyReaderOf(result);
      if (operand != kNoValue || offset_ != kNoValue || HasActivation(nodes_.back()) || !IsBinary(next, kind)) continue;
      const ValueId other = OtherInput(rewriter_.node(next), result);
      if (!IsPerChannel(other) || graph_.value(OutputOf(next)).desc != graph_.value(result).desc) continue;
      operand = other;
      Take(next);
    }
  }

  // One number for each element of the last dimension, or a constant number for all.
  bool IsPerChannel(ValueId id) const {
    const Shape& shape = graph_.value(id).desc.shape;
    const Shape& normalized = graph_.value(x_).desc.shape;
    if (!IsPlainFloat(graph_.value(id).desc) || normalized.rank() == 0) return false;
    if (ConstantNumber(id).has_value()) return true;
    const int32_t channels = normalized[normalized.rank() - 1];
    return shape.rank() > 0 && shape.rank() <= normalized.rank() && shape.element_count() == channels &&
           shape[shape.rank() - 1] == channels;
  }
  // A constant number as one for each channel.
  ValueId Spread(ValueId id, size_t channels) {
    const std::optional<float> number = channels == 1 ? std::nullopt : ConstantNumber(id);
    if (!number.has_value()) return id;
    const std::vector<float> numbers(channels, *number);
    return graph_.AddFloatConstant(graph_.value(id).name, Shape{static_cast<int32_t>(channels)}, numbers);
  }

  // Nothing else reads what goes away, all values are plain floats, and devices can run the result.
  bool IsWhole() const {
    const TensorDesc& desc = graph_.value(x_).desc;
    if (desc != graph_.value(OutputOf(nodes_.back())).desc) return false;
    if (NormalizedDimensionsUnsupported(desc.shape, axes_mask_).has_value()) return false;
    const auto is_taken = [&](int index) { return std::find(nodes_.begin(), nodes_.end(), index) != nodes_.end(); };
    for (int index : nodes_) {
      const ValueId made = OutputOf(index);
      if (!IsPlainFloat(graph_.value(made).desc)) return false;
      if (index == nodes_.back()) continue;
      const std::vector<int> readers = rewriter_.ReadersOf(made);
      if (graph_.IsKept(made) || !std::all_of(readers.begin(), readers.end(), is_taken)) return false;
    }
    return IsPlainFloat(desc) && !is_taken(rewriter_.ProducerIndexOf(scale_)) &&
           !is_taken(rewriter_.ProducerIndexOf(offset_));
  }

  GraphRewriter& rewriter_;
  Graph& graph_;
  std::vector<int> nodes_;  // the last one makes the result
  ValueId x_ = kNoValue, mean_ = kNoValue, scale_ = kNoValue, offset_ = kNoValue;
  uint32_t axes_mask_ = 0;
  float epsilon_ = 0.0f;
};

bool IsSquareRoot(const Op& op) {
  const auto* unary = std::get_if<Unary>(&op);
  return unary != nullptr && (unary->kind == UnaryKind::kRsqrt || unary->kind == UnaryKind::kSqrt);
}

}  // namespace

Result<Verdict> FuseNormalization(Graph& graph, const DeviceInfo&) {
  GraphRewriter rewriter(graph);
  for (int index = 0; index < rewriter.node_count(); ++index) {
    if (!IsSquareRoot(rewriter.node(index).op)) continue;
    Match match(rewriter);
    if (match.Find(index)) match.Rewrite();
  }
  return rewriter.Finish();
}

}  // namespace hearth
