// Real numbers that a network rounds to the 256 steps of a grid, as QuantizeLinear and DequantizeLinear of ONNX do,
// become quantized values, and nodes between such values read and make them: layers of 8-bit integers.
#include <algorithm>
#include <cmath>
#include <set>

#include "core/graph/ops/elementwise_table.h"
#include "core/graph/passes/graph_rewriter.h"
#include "core/graph/quantize.h"

namespace hearth {
namespace {

class IntegerRewriter {
 public:
  explicit IntegerRewriter(Graph& graph) : graph_(graph), rewriter_(graph) {}

  Verdict Run() {
    for (int index = 0; index < rewriter_.node_count(); ++index) MakeGridOf(rewriter_.node(index));
    if (on_grids_.empty()) return Verdict::kUnchanged;
    for (int index = rewriter_.node_count(); index-- > 0;) MoveStored(rewriter_.node(index), UnaryKind::kQuantize);
    for (int index = 0; index < rewriter_.node_count(); ++index) {
      JoinConversions(rewriter_.node(index));
      MoveStored(rewriter_.node(index), UnaryKind::kDequantize);
    }
    return rewriter_.Finish();
  }

 private:
  struct ByNumber {
    ValueId x = kNoValue;
    float number = 0;
  };

  // The operands of the node that makes `id`, if it is of this kind and the second one is a constant number.
  std::optional<ByNumber> Match(ValueId id, BinaryKind kind) {
    const Node* node = rewriter_.ProducerOf(id);
    const auto* binary = node == nullptr ? nullptr : std::get_if<Binary>(&node->op);
    if (binary == nullptr || binary->kind != kind || binary->activation != Activation::kNone) return std::nullopt;
    const ValueId x = node->inputs[0];
    if (graph_.value(node->inputs[1]).desc.shape.element_count() != 1 || graph_.value(x).desc != graph_.value(id).desc)
      return std::nullopt;
    const std::optional<std::vector<float>> number = FloatsOf(graph_, node->inputs[1]);
    return number ? std::optional(ByNumber{x, number->front()}) : std::nullopt;
  }
  std::optional<ByNumber> MatchInner(ValueId id, BinaryKind kind) {
    return rewriter_.IsReadOnce(id) ? Match(id, kind) : std::nullopt;
  }

  // min(max(round(x / scale), lowest), highest), which others multiply by the scale, becomes a quantization, and each
  // product a dequantization.
  void MakeGridOf(Node& last) {
    const ValueId centered = last.outputs[0];
    if (!IsPlainFloat32(graph_.value(centered).desc) || graph_.IsKept(centered)) return;
    const std::optional<ByNumber> below = Match(centered, BinaryKind::kMinimum);
    const std::optional<ByNumber> above = below ? MatchInner(below->x, BinaryKind::kMaximum) : std::nullopt;
    if (!above || !rewriter_.IsReadOnce(above->x)) return;
    const Node* round = rewriter_.ProducerOf(above->x);
    const auto* unary = round == nullptr ? nullptr : std::get_if<Unary>(&round->op);
    if (unary == nullptr || unary->kind != UnaryKind::kRound) return;
    // A move may have come between (functions_before_moves).
    const ValueId moved = round->inputs[0];
    const Node* move = rewriter_.IsReadOnce(moved) ? rewriter_.ProducerOf(moved) : nullptr;
    const ValueId steps = move != nullptr && IsMove(*move) ? move->inputs[0] : moved;
    const std::optional<ByNumber> divided = MatchInner(steps, BinaryKind::kDiv);
    const float lowest = above->number;
    if (!divided || !(divided->number > 0) || !std::isnormal(divided->number)) return;
    if (below->number - lowest != 255.0f || lowest != std::floor(lowest) || lowest < -255.0f || lowest > 0.0f) return;
    Readers readers;
    if (!FindReaders(centered, divided->number, readers) || readers.products.empty()) return;
    readers.moved.insert(readers.moved.end(), {steps, moved});
    for (const ValueId stored : readers.moved) {
      graph_.value(stored).desc.dtype = DType::kUInt8;
      graph_.value(stored).desc.quantization =
          Quantization{{divided->number}, {static_cast<int64_t>(-lowest)}, 0, nullptr};
      on_grids_.insert(stored);
    }
    rewriter_.Replace(*rewriter_.ProducerOf(steps), Unary{UnaryKind::kQuantize, 1.0f}, {divided->x});
    rewriter_.ReplaceReads(centered, moved);
    for (const int index : readers.products) {
      Node& product = rewriter_.node(index);
      rewriter_.Replace(product, Unary{UnaryKind::kDequantize}, {product.inputs[0]});
    }
    for (const ValueId between : {centered, below->x, above->x}) rewriter_.RemoveProducerOf(between);
  }

  // What reads steps of a grid: moves, and products with the scale.
  struct Readers {
    std::vector<int> products;
    std::vector<ValueId> moved;
  };
  // False if something else reads them. Chains of moves may be long, so nothing calls itself.
  bool FindReaders(ValueId centered, float scale, Readers& readers) {
    std::vector<ValueId> open{centered};
    while (!open.empty()) {
      const ValueId steps = open.back();
      open.pop_back();
      for (const int index : rewriter_.ReadersOf(steps)) {
        const Node& node = rewriter_.node(index);
        const ValueId made = node.outputs[0];
        const std::optional<ByNumber> scaled = Match(made, BinaryKind::kMul);
        if (scaled && scaled->x == steps && scaled->number == scale) {
          readers.products.push_back(index);
        } else if (ChoosesElements(node) && !graph_.IsKept(made)) {
          readers.moved.push_back(made);
          open.push_back(made);
        } else {
          return false;
        }
      }
    }
    return true;
  }

  // The quantized value of which a dequantization makes `id`; kNoValue if there is none.
  ValueId StoredOf(ValueId id) {
    const Node* node = rewriter_.ProducerOf(id);
    const auto* unary = node == nullptr ? nullptr : std::get_if<Unary>(&node->op);
    const bool is_real = unary != nullptr && unary->kind == UnaryKind::kDequantize;
    return is_real && on_grids_.contains(node->inputs[0]) ? node->inputs[0] : kNoValue;
  }

  // Behind a move (for quantizations) or before one, exchanges both, so that bytes are moved and not floats.
  void MoveStored(Node& second, UnaryKind kind) {
    const ValueId between = second.inputs.empty() ? kNoValue : second.inputs[0];
    if (!rewriter_.IsReadOnce(between) || rewriter_.ProducerOf(between) == nullptr) return;
    Node& first = *rewriter_.ProducerOf(between);
    const bool quantizes = kind == UnaryKind::kQuantize;
    const Node &conversion = quantizes ? second : first, &move = quantizes ? first : second;
    const auto* unary = std::get_if<Unary>(&conversion.op);
    if (unary == nullptr || unary->kind != kind || !IsMove(move)) return;
    const ValueId stored = quantizes ? conversion.outputs[0] : conversion.inputs[0];
    if (!on_grids_.contains(stored)) return;
    TensorDesc desc = graph_.value(stored).desc;
    desc.shape = graph_.value(quantizes ? first.inputs[0] : second.outputs[0]).desc.shape;
    graph_.value(between).desc = desc;
    on_grids_.insert(between);
    const Op one = first.op, other = second.op;
    rewriter_.Replace(first, other, {first.inputs[0]});
    rewriter_.Replace(second, one, {between});
    std::swap(first.name, second.name);
    std::swap(first.source_index, second.source_index);
  }

  // A node between dequantizations and a quantization, which it replaces.
  void JoinConversions(Node& node) {
    if (node.outputs.size() != 1 || node.inputs.empty() || !rewriter_.IsReadOnce(node.outputs[0])) return;
    const Node& reader = rewriter_.node(rewriter_.ReadersOf(node.outputs[0])[0]);
    const ValueId made = reader.outputs[0];
    if (!on_grids_.contains(made) || rewriter_.ProducerOf(made) != &reader) return;
    const size_t count = HasWeights(node) ? 1 : node.inputs.size();
    std::vector<ValueId> stored;
    for (size_t i = 0; i < count; ++i) {
      stored.push_back(StoredOf(node.inputs[i]));
      if (stored.back() == kNoValue) return;
    }
    if (!ComputesIntegers(node, stored, made)) return;
    for (size_t i = 0; i < count; ++i) rewriter_.SetInput(node, i, stored[i]);
    rewriter_.TakeOver(node, made);
  }

  static bool IsMove(const Node& node) { return IsOneOf<Reshape, Transpose>(node.op); }
  static bool ChoosesElements(const Node& node) {
    const auto* pool = std::get_if<Pool2D>(&node.op);
    return IsMove(node) || std::holds_alternative<Slice>(node.op) ||
           (pool != nullptr && pool->kind == PoolKind::kMax && pool->activation == Activation::kNone);
  }
  static bool HasWeights(const Node& node) { return IsOneOf<Conv2D, DepthwiseConv2D, FullyConnected>(node.op); }

  // Whether a node gives what the file means, up to a step of the grid, when it computes on such values.
  bool ComputesIntegers(const Node& node, const std::vector<ValueId>& stored, ValueId made) const {
    if (HasWeights(node)) {
      const TensorDesc& weights = graph_.value(node.inputs[1]).desc;
      return graph_.IsConstant(node.inputs[1]) && IsQuantized(weights) && BitsOf(weights.dtype) == 8 &&
             (InputOf(node, 2) == kNoValue || graph_.IsConstant(node.inputs[2]));
    }
    if (const auto* binary = std::get_if<Binary>(&node.op)) {
      const bool is_sum = binary->kind == BinaryKind::kAdd || binary->kind == BinaryKind::kSub;
      return binary->kind == BinaryKind::kMul || (is_sum && !MayTie(stored, made));
    }
    if (const auto* unary = std::get_if<Unary>(&node.op)) {
      // The integer kernel of LeakyRelu keeps 8 bits of the ratio of the scales, as XNNPACK's.
      return RowOf(unary->kind).function != nullptr && unary->kind != UnaryKind::kLeakyRelu &&
             unary->kind != UnaryKind::kQuantize && unary->kind != UnaryKind::kDequantize && !MayTie(stored, made);
    }
    if (const auto* reduce = std::get_if<Reduce>(&node.op)) return reduce->kind == ReduceKind::kMean;
    const auto* concat = std::get_if<Concat>(&node.op);
    const bool joins = concat != nullptr && concat->activation == Activation::kNone;
    return (joins || ChoosesElements(node)) && std::ranges::all_of(stored, [&](ValueId id) {
             return graph_.value(id).desc.quantization == graph_.value(made).desc.quantization;
           });
  }

  // Whether steps of one grid are halves of another's, as powers of two are: integer kernels of sums and functions
  // round halves up or away from zero, and the file to even.
  bool MayTie(const std::vector<ValueId>& stored, ValueId made) const {
    const auto scale = [&](ValueId id) { return double{graph_.value(id).desc.quantization->scales[0]}; };
    return std::ranges::any_of(stored, [&](ValueId id) {
      const double ratio = scale(id) / scale(made), fine = ratio * 65536;
      return ratio != std::floor(ratio) && fine == std::floor(fine);
    });
  }

  Graph& graph_;
  GraphRewriter rewriter_;
  std::set<ValueId> on_grids_;  // that this pass made
};

}  // namespace

Result<Verdict> ToIntegers(Graph& graph, const DeviceInfo& device) {
  return device.is_host() ? IntegerRewriter(graph).Run() : Verdict::kUnchanged;
}

}  // namespace hearth
