// Layer, instance and group normalization as converters write it, found from its square root:
//
//   variance  mean(squared_difference(x, mean(x))), or of (x - mean(x)) squared by square, pow or mul with itself
//   spread    rsqrt(variance + epsilon), or sqrt, or pow by -0.5 or 0.5; epsilon may be absent
//   result    (x - mean) * spread, or (x - mean) / sqrt; then * scale + offset
//   factored  x * (spread * scale) + (offset - mean * (spread * scale)), as TensorFlow's batch_normalization has it;
//             Keras writes neg(mean) * (spread * scale) + offset
//   in groups the same between a reshape that splits the channels and one that joins them
//   without a mean, the root mean square of x
//
// Scale and offset, both optional, have one number per element of the last dimension, constant or not.
#include <algorithm>
#include <cmath>
#include <optional>

#include "core/base/contains.h"
#include "core/graph/evaluate.h"
#include "core/graph/ops/normalization.h"
#include "core/graph/passes/graph_rewriter.h"
#include "core/graph/quantize.h"

namespace hearth {
namespace {

// The input of a binary node that is not `known`.
ValueId OtherInput(const Node& node, ValueId known) {
  return node.inputs[0] == known ? node.inputs[1] : node.inputs[0];
}

enum class Root : uint8_t { kNone, kRoot, kInverse };
Root RootOf(const Graph& graph, const Node& node) {
  if (const auto* unary = std::get_if<Unary>(&node.op)) {
    return unary->kind == UnaryKind::kSqrt    ? Root::kRoot
           : unary->kind == UnaryKind::kRsqrt ? Root::kInverse
                                              : Root::kNone;
  }
  const auto* binary = std::get_if<Binary>(&node.op);
  if (binary == nullptr || binary->kind != BinaryKind::kPow) return Root::kNone;
  const float exponent = NumberOf(graph, node.inputs[1]).value_or(0);
  return exponent == 0.5f ? Root::kRoot : exponent == -0.5f ? Root::kInverse : Root::kNone;
}

class Match {
 public:
  explicit Match(GraphRewriter& rewriter) : rewriter_(rewriter), graph_(rewriter.graph()) {}

  // Whether the square root at `root` belongs to a normalization whose inner values nothing else reads.
  bool Find(int root) {
    nodes_.push_back(root);
    const Node& node = rewriter_.node(root);
    if (!TakeVariance(node.inputs[0])) return false;
    if (!(RootOf(graph_, node) == Root::kRoot ? TakeQuotient(node.outputs[0]) : TakeProduct(node.outputs[0])))
      return false;
    TakeScaleAndOffset();
    return IsWhole();
  }

  // Makes the last node the normalization, or the reshape behind it, and removes the others.
  void Rewrite() {
    const Shape& shape = graph_.value(Normalized()).desc.shape;
    const auto channels = static_cast<size_t>(shape[shape.rank() - 1]);
    Node* last = &rewriter_.node(nodes_.back());
    MeanVarianceNormalization op = Operation();
    op.activation = std::get<Binary>(last->op).activation;
    nodes_.pop_back();
    if (joined_ != kNoValue) {
      // The root becomes the normalization and takes over its value.
      Node& root = rewriter_.node(nodes_.front());
      graph_.value(root.outputs[0]).desc = graph_.value(joined_).desc;
      rewriter_.Replace(*last, Reshape{graph_.value(x_).desc.shape}, {root.outputs[0]});
      root.name = last->name;
      root.source_index = last->source_index;
      last = &root;
      nodes_.erase(nodes_.begin());
    }
    rewriter_.Replace(*last, op, {Normalized(), Spread(scale_, channels), Spread(offset_, channels)});
    for (int index : nodes_) rewriter_.Remove(index);
  }

 private:
  void Take(int index) {
    if (!Contains(nodes_, index)) nodes_.push_back(index);
  }

  // The node if it is a mean that broadcasts back to its input: reduced dimensions stay with size 1, or only the last
  // one is kept.
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
    if (!IsBinary(index, BinaryKind::kSub) || HasActivation(index)) return false;
    const Node& node = rewriter_.node(index);
    if (x_ != kNoValue && node.inputs[0] != x_) return false;
    if (!TakeMean(node.inputs[1], node.inputs[0])) return false;
    Take(index);
    return true;
  }

  bool TakeVariance(ValueId with_epsilon) {
    const int at = rewriter_.ProducerIndexOf(with_epsilon);
    ValueId variance = with_epsilon;
    if (IsBinary(at, BinaryKind::kAdd)) {
      if (HasActivation(at)) return false;
      Take(at);
      const std::vector<ValueId>& terms = rewriter_.node(at).inputs;
      const int constant = graph_.IsConstant(terms[0]) ? 0 : 1;
      const std::optional<float> epsilon = NumberOf(graph_, terms[constant]);
      if (!epsilon.has_value() || !std::isfinite(*epsilon) || *epsilon < 0) return false;
      epsilon_ = *epsilon;
      variance = terms[1 - constant];
    }
    const int index = rewriter_.ProducerIndexOf(variance);
    const Reduce* reduce = MeanAt(index);
    if (reduce == nullptr) return false;
    axes_mask_ = reduce->axes_mask;
    Take(index);
    if (!TakeSquares(rewriter_.node(index).inputs[0])) return false;
    FindGroups();
    return true;
  }

  bool TakeSquares(ValueId squares) {
    const int index = rewriter_.ProducerIndexOf(squares);
    if (index < 0) return false;
    const Node& node = rewriter_.node(index);
    Take(index);
    if (const auto* unary = std::get_if<Unary>(&node.op)) {
      return unary->kind == UnaryKind::kSquare && TakeSquared(node.inputs[0]);
    }
    const auto* binary = std::get_if<Binary>(&node.op);
    if (binary == nullptr || binary->activation != Activation::kNone) return false;
    switch (binary->kind) {
      case BinaryKind::kSquaredDifference:
        return TakeMean(node.inputs[1], node.inputs[0]) || TakeMean(node.inputs[0], node.inputs[1]);
      case BinaryKind::kMul: return node.inputs[0] == node.inputs[1] && TakeSquared(node.inputs[0]);
      case BinaryKind::kPow: return NumberOf(graph_, node.inputs[1]) == 2.0f && TakeSquared(node.inputs[0]);
      default: return false;
    }
  }

  // x - mean, or x itself if there is no mean.
  bool TakeSquared(ValueId id) {
    if (!TakeCentered(id)) x_ = id;
    return true;
  }

  // Finds a reshape that makes x by splitting the channels, if x is normalized over the channels within a part.
  void FindGroups() {
    const int index = rewriter_.ProducerIndexOf(x_);
    const int last = graph_.value(x_).desc.shape.rank() - 1;
    if (index < 0 || last < 1 || !std::holds_alternative<Reshape>(rewriter_.node(index).op)) return;
    const ValueId joined = rewriter_.node(index).inputs[0];
    const Shape &parts = graph_.value(x_).desc.shape, &whole = graph_.value(joined).desc.shape;
    const uint32_t both = 3u << (last - 1), of_parts = 1u << last;
    if (whole.rank() != last || parts[last - 1] * parts[last] != whole[last - 1]) return;
    if (mean_ == kNoValue || (axes_mask_ & both) != of_parts || axes_mask_ == of_parts) return;
    for (int d = 0; d + 1 < last; ++d) {
      if (parts[d] != whole[d]) return;
    }
    joined_ = joined;
  }
  // The input of the normalization.
  ValueId Normalized() const { return joined_ == kNoValue ? x_ : joined_; }
  MeanVarianceNormalization Operation() const {
    MeanVarianceNormalization op = {.axes_mask = axes_mask_, .epsilon = epsilon_};
    op.root_mean_square = mean_ == kNoValue;
    if (joined_ == kNoValue) return op;
    const Shape& parts = graph_.value(x_).desc.shape;
    const int last = parts.rank() - 1;
    op.axes_mask &= ~(1u << last);
    op.groups = parts[last] == 1 ? 0 : parts[last - 1];
    return op;
  }

  // The only node that reads `id`, or -1.
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

  // x - mean, or x itself if there is no mean.
  bool TakeDividend(ValueId id) { return mean_ == kNoValue ? id == x_ : TakeCentered(id); }

  // (x - mean) / root
  bool TakeQuotient(ValueId root) {
    const int div = OnlyReaderOf(root);
    if (!IsBinary(div, BinaryKind::kDiv) || rewriter_.node(div).inputs[1] != root) return false;
    if (!TakeDividend(rewriter_.node(div).inputs[0])) return false;
    Take(div);
    return true;
  }

  // (x - mean) * spread, or the factored form; spread may be multiplied by a scale first.
  bool TakeProduct(ValueId spread) {
    int mul = OnlyReaderOf(spread);
    if (IsBinary(mul, BinaryKind::kMul) && !HasActivation(mul)) {
      const ValueId other = OtherInput(rewriter_.node(mul), spread);
      if (IsPerChannel(other) && !TakeDividend(other)) {
        scale_ = other;
        Take(mul);
        spread = OutputOf(mul);
        mul = OnlyReaderOf(spread);
      }
    }
    if (mul < 0) return TakeFactored(spread);
    if (!IsBinary(mul, BinaryKind::kMul) || !TakeDividend(OtherInput(rewriter_.node(mul), spread))) return false;
    Take(mul);
    return true;
  }

  // x * spread + (offset - mean * spread), with or without offset, in any order.
  bool TakeFactored(ValueId spread) {
    const std::vector<int> readers = rewriter_.ReadersOf(spread);
    if (readers.size() != 2 || graph_.IsKept(spread)) return false;
    for (int index : readers) {
      if (!IsBinary(index, BinaryKind::kMul) || HasActivation(index)) return false;
    }
    const bool x_first = OtherInput(rewriter_.node(readers[0]), spread) == x_;
    const int of_x = readers[x_first ? 0 : 1], of_mean = readers[x_first ? 1 : 0];
    if (OtherInput(rewriter_.node(of_x), spread) != x_) return false;
    const bool is_negative = TakeNegative(OtherInput(rewriter_.node(of_mean), spread));
    if (!is_negative && OtherInput(rewriter_.node(of_mean), spread) != mean_) return false;
    Take(of_x);
    Take(of_mean);
    const int last = OnlyReaderOf(OutputOf(of_x)), shift = OnlyReaderOf(OutputOf(of_mean));
    if (last < 0 || shift < 0) return false;
    const bool has_shift = shift != last;
    if (has_shift && !TakeShift(shift, OutputOf(of_mean), is_negative)) return false;
    const ValueId x_part = OutputOf(of_x), rest = has_shift ? OutputOf(shift) : OutputOf(of_mean);
    const bool adds = has_shift || is_negative;
    if (OnlyReaderOf(rest) != last || !IsBinary(last, adds ? BinaryKind::kAdd : BinaryKind::kSub)) return false;
    if (adds ? OtherInput(rewriter_.node(last), rest) != x_part : rewriter_.node(last).inputs[0] != x_part)
      return false;
    Take(last);
    return true;
  }
  // `id` is -mean.
  bool TakeNegative(ValueId id) {
    const int index = rewriter_.ProducerIndexOf(id);
    const Unary* unary = index < 0 ? nullptr : std::get_if<Unary>(&rewriter_.node(index).op);
    if (unary == nullptr || unary->kind != UnaryKind::kNeg || rewriter_.node(index).inputs[0] != mean_) return false;
    Take(index);
    return true;
  }
  // The node makes offset - product or -product. If the product is already negative: offset + product.
  bool TakeShift(int index, ValueId product, bool is_negative) {
    const Node& node = rewriter_.node(index);
    const auto* unary = std::get_if<Unary>(&node.op);
    Take(index);
    if (unary != nullptr) return unary->kind == UnaryKind::kNeg && !is_negative;
    if (!IsBinary(index, is_negative ? BinaryKind::kAdd : BinaryKind::kSub) || HasActivation(index)) return false;
    if (!is_negative && node.inputs[1] != product) return false;
    offset_ = OtherInput(node, product);
    return IsPerChannel(offset_);
  }

  // Takes the multiplication and addition behind the result, if they are there.
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

  // One number per element of the last dimension, or one constant number for all. With groups it must be a constant
  // whose channels are split like x's.
  bool IsPerChannel(ValueId id) const {
    const Shape& shape = graph_.value(id).desc.shape;
    const Shape& parts = graph_.value(x_).desc.shape;
    const Shape& normalized = graph_.value(Normalized()).desc.shape;
    if (!IsPlainFloat(graph_.value(id).desc) || normalized.rank() == 0) return false;
    if (NumberOf(graph_, id).has_value()) return true;
    const int32_t channels = normalized[normalized.rank() - 1];
    const int rank = shape.rank();
    if (rank == 0 || rank > parts.rank() || shape.element_count() != channels) return false;
    if (shape[rank - 1] != parts[parts.rank() - 1]) return false;
    return joined_ == kNoValue || (graph_.IsConstant(id) && rank > 1 && shape[rank - 2] == parts[parts.rank() - 2]);
  }
  // Expands a constant number to one per channel, and joins channels that are split into groups.
  ValueId Spread(ValueId id, size_t channels) {
    if (id == kNoValue || !graph_.IsConstant(id)) return id;
    Result<std::vector<float>> numbers = ConstantAsFloats(graph_, id);
    if (!numbers.ok() || (numbers->size() == channels && joined_ == kNoValue)) return id;
    if (numbers->size() == 1) numbers->resize(channels, numbers->front());
    return graph_.AddFloatConstant(graph_.value(id).name, Shape{static_cast<int32_t>(channels)}, *numbers);
  }

  // Nothing else reads the inner values, all values are plain floats, and devices can run the result.
  bool IsWhole() const {
    const TensorDesc& desc = graph_.value(x_).desc;
    if (desc != graph_.value(OutputOf(nodes_.back())).desc) return false;
    const Shape& normalized = graph_.value(Normalized()).desc.shape;
    if (NormalizedShapeUnsupported(normalized, Operation()).has_value()) return false;
    // Spread makes scale and offset.
    if (!graph_.HasRoomFor(2 * sizeof(float) * static_cast<size_t>(normalized[normalized.rank() - 1]))) return false;
    const auto is_taken = [&](int index) { return Contains(nodes_, index); };
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
  ValueId joined_ = kNoValue;  // if x is this value with its channels split into groups
  uint32_t axes_mask_ = 0;
  float epsilon_ = 0.0f;
};

}  // namespace

Result<Verdict> FuseNormalization(Graph& graph, const DeviceInfo&) {
  GraphRewriter rewriter(graph);
  for (int index = 0; index < rewriter.node_count(); ++index) {
    if (RootOf(graph, rewriter.node(index)) == Root::kNone) continue;
    Match match(rewriter);
    if (match.Find(index)) match.Rewrite();
  }
  return rewriter.Finish();
}

}  // namespace hearth
