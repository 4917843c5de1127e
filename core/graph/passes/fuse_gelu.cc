// GELU as exporters write it, found from its tanh or erf:
//
//   inner   of tanh: (x + x^3 * 0.044715) * sqrt(2 / pi), where x^3 is pow(x, 3), x * x * x or square(x) * x;
//           of erf: x / sqrt(2), or x * sqrt(1 / 2)
//   result  x * 0.5 * (tanh(inner) + 1), multiplied in any order
#include <cmath>

#include "core/base/contains.h"
#include "core/graph/evaluate.h"
#include "core/graph/passes/graph_rewriter.h"
#include "core/graph/quantize.h"

namespace hearth {
namespace {

constexpr float kCubeFactor = 0.044715f, kScale = 0.797884561f;
constexpr float kRoot = 1.41421356f, kRootOfHalf = 0.707106781f;

class GeluMatch {
 public:
  explicit GeluMatch(GraphRewriter& rewriter) : rewriter_(rewriter), graph_(rewriter.graph()) {}

  // `curve`: the node of the tanh or erf.
  bool Find(int curve) {
    nodes_.push_back(curve);
    const Node& node = rewriter_.node(curve);
    is_tanh_ = std::get<Unary>(node.op).kind == UnaryKind::kTanh;
    const bool has_inner = is_tanh_ ? TakeInner(node.inputs[0]) : TakeInnerOfErf(node.inputs[0]);
    return has_inner && TakeResult(node.outputs[0]) && IsWhole();
  }

  void Rewrite() {
    const int last = nodes_.back();
    nodes_.pop_back();
    rewriter_.Replace(rewriter_.node(last), Unary{.kind = is_tanh_ ? UnaryKind::kGeluTanh : UnaryKind::kGelu}, {x_});
    for (const int index : nodes_) rewriter_.Remove(index);
  }

 private:
  // The node that makes `id` if it is this binary operation without a fused activation; adds it to nodes_.
  const Node* Taken(ValueId id, BinaryKind kind) {
    const int index = rewriter_.ProducerIndexOf(id);
    const auto* binary = index < 0 ? nullptr : std::get_if<Binary>(&rewriter_.node(index).op);
    if (binary == nullptr || binary->kind != kind || binary->activation != Activation::kNone) return nullptr;
    nodes_.push_back(index);
    return &rewriter_.node(index);
  }

  bool IsNumber(ValueId id, float wanted) const {
    const std::optional<float> number = NumberOf(graph_, id);
    return number && std::abs(*number - wanted) <= 1e-6f * wanted;
  }

  // The other input of a node whose one input is this number.
  ValueId Beside(const Node* node, float number) const {
    if (node == nullptr) return kNoValue;
    if (IsNumber(node->inputs[1], number)) return node->inputs[0];
    return IsNumber(node->inputs[0], number) ? node->inputs[1] : kNoValue;
  }

  bool TakeInner(ValueId inner) {
    const ValueId sum = Beside(Taken(inner, BinaryKind::kMul), kScale);
    const Node* terms = sum == kNoValue ? nullptr : Taken(sum, BinaryKind::kAdd);
    if (terms == nullptr) return false;
    const std::vector<int> before = nodes_;
    for (const int of_x : {0, 1}) {
      nodes_ = before;
      x_ = terms->inputs[of_x];
      const ValueId cube = Beside(Taken(terms->inputs[1 - of_x], BinaryKind::kMul), kCubeFactor);
      if (cube != kNoValue && TakeCube(cube)) return true;
    }
    return false;
  }

  bool TakeInnerOfErf(ValueId inner) {
    if (const Node* quotient = Taken(inner, BinaryKind::kDiv)) {
      x_ = IsNumber(quotient->inputs[1], kRoot) ? quotient->inputs[0] : kNoValue;
    } else {
      x_ = Beside(Taken(inner, BinaryKind::kMul), kRootOfHalf);
    }
    return x_ != kNoValue;
  }

  bool TakeCube(ValueId cube) {
    if (const Node* power = Taken(cube, BinaryKind::kPow))
      return power->inputs[0] == x_ && IsNumber(power->inputs[1], 3.0f);
    const Node* product = Taken(cube, BinaryKind::kMul);
    if (product == nullptr) return false;
    const ValueId square = product->inputs[0] == x_ ? product->inputs[1] : product->inputs[0];
    if (product->inputs[0] != x_ && product->inputs[1] != x_) return false;
    const int index = rewriter_.ProducerIndexOf(square);
    const auto* unary = index < 0 ? nullptr : std::get_if<Unary>(&rewriter_.node(index).op);
    if (unary != nullptr) {
      nodes_.push_back(index);
      return unary->kind == UnaryKind::kSquare && rewriter_.node(index).inputs[0] == x_;
    }
    const Node* squared = Taken(square, BinaryKind::kMul);
    return squared != nullptr && squared->inputs[0] == x_ && squared->inputs[1] == x_;
  }

  // The only reader of `id` if Taken accepts it.
  const Node* ReaderOf(ValueId id, BinaryKind kind) {
    const std::vector<int> readers = rewriter_.ReadersOf(id);
    return readers.size() == 1 ? Taken(rewriter_.node(readers[0]).outputs[0], kind) : nullptr;
  }

  bool TakeResult(ValueId curve) {
    const Node* sum = ReaderOf(curve, BinaryKind::kAdd);
    if (Beside(sum, 1.0f) != curve) return false;
    ValueId product = sum->outputs[0];
    bool has_x = false, has_half = false;
    while (!has_x || !has_half) {
      const Node* next = ReaderOf(product, BinaryKind::kMul);
      if (next == nullptr) return false;
      const ValueId other = next->inputs[0] == product ? next->inputs[1] : next->inputs[0];
      if (!has_x && other == x_) {
        has_x = true;
      } else if (!has_half && IsNumber(other, 0.5f)) {
        has_half = true;
      } else if (!has_x && !has_half) {
        const int last = nodes_.back();
        if (Beside(Taken(other, BinaryKind::kMul), 0.5f) != x_) return false;
        nodes_.push_back(last);
        has_x = has_half = true;
      } else {
        return false;
      }
      product = next->outputs[0];
    }
    return true;
  }

  // Only these nodes read what they make, up to the last of them; all values have x's description.
  bool IsWhole() {
    if (!IsPlainFloat(graph_.value(x_).desc)) return false;
    const int last = nodes_.back();
    std::erase(nodes_, last);
    nodes_.push_back(last);
    for (const int index : nodes_) {
      const ValueId made = rewriter_.node(index).outputs[0];
      if (graph_.value(made).desc != graph_.value(x_).desc) return false;
      if (index == last) continue;
      if (graph_.IsKept(made)) return false;
      for (const int reader : rewriter_.ReadersOf(made)) {
        if (!Contains(nodes_, reader)) return false;
      }
    }
    return true;
  }

  GraphRewriter& rewriter_;
  Graph& graph_;
  std::vector<int> nodes_;  // the last one makes the result
  ValueId x_ = kNoValue;
  bool is_tanh_ = true;
};

}  // namespace

Result<Verdict> FuseGelu(Graph& graph, const DeviceInfo&) {
  GraphRewriter rewriter(graph);
  for (int index = 0; index < rewriter.node_count(); ++index) {
    const auto* unary = std::get_if<Unary>(&rewriter.node(index).op);
    if (unary == nullptr || (unary->kind != UnaryKind::kTanh && unary->kind != UnaryKind::kErf)) continue;
    GeluMatch match(rewriter);
    if (match.Find(index)) match.Rewrite();
  }
  return rewriter.Finish();
}

}  // namespace hearth
