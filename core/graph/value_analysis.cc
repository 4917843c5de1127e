#include "core/graph/value_analysis.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>
#include <variant>

#include "core/graph/float_reader.h"
#include "core/graph/op_def.h"
#include "core/graph/ops/elementwise_table.h"
#include "core/graph/quantize.h"

namespace hearth {
namespace {

// ---- Bounds ----

constexpr float kUnbounded = std::numeric_limits<float>::infinity();

float OfGrid(const TensorDesc& desc) {
  if (!IsQuantized(desc) || desc.quantization->scales.size() != 1) return kUnbounded;
  const TensorGrid grid = GridOf(desc);
  return std::fabs(grid.scale) * std::max(std::fabs(grid.lowest), std::fabs(grid.highest));
}

// A result is rounded to its grid after all else.
float OfRounding(const TensorDesc& desc) {
  if (!IsQuantized(desc)) return 0;
  float coarsest = 0;
  for (const float scale : desc.quantization->scales) coarsest = std::max(coarsest, std::fabs(scale));
  return coarsest / 2;
}

float OfUnary(UnaryKind kind, float input) {
  switch (kind) {
    case UnaryKind::kCos:
    case UnaryKind::kLogistic:
    case UnaryKind::kRelu0To1:
    case UnaryKind::kReluN1To1:
    case UnaryKind::kSign:
    case UnaryKind::kSin:
    case UnaryKind::kErf:
    case UnaryKind::kTanh: return 1;
    case UnaryKind::kRelu6: return 6;
    case UnaryKind::kAbs:
    case UnaryKind::kCopy:
    case UnaryKind::kDequantize:
    case UnaryKind::kNeg:
    case UnaryKind::kRelu: return input;
    default: return kUnbounded;
  }
}

float OfBinary(BinaryKind kind, float a, float b) {
  switch (kind) {
    case BinaryKind::kAdd:
    case BinaryKind::kSub: return a + b;
    case BinaryKind::kMul: return a * b;
    case BinaryKind::kMaximum:
    case BinaryKind::kMinimum: return std::max(a, b);
    default: return kUnbounded;
  }
}

// Of the result before a fused activation, from the bounds of the inputs.
float OfOperation(const Node& node, const std::vector<float>& bounds) {
  const auto input = [&](size_t k) {
    const ValueId value = InputOf(node, k);
    return value != kNoValue ? bounds[value] : kUnbounded;
  };
  if (OpDefOf(node.op).Has(kMovesElements)) {
    float largest = 0;
    for (size_t k = 0; k < node.inputs.size(); ++k) largest = std::max(largest, input(k));
    return largest;
  }
  if (const auto* unary = std::get_if<Unary>(&node.op)) return OfUnary(unary->kind, input(0));
  if (const auto* binary = std::get_if<Binary>(&node.op)) return OfBinary(binary->kind, input(0), input(1));
  if (IsOneOf<Softmax, L2Normalization>(node.op)) return 1;
  if (const auto* pad = std::get_if<Pad>(&node.op))
    return std::max(input(0), static_cast<float>(std::fabs(pad->value)));
  // Averages, roots of mean squares, maxima; between neighbours.
  if (IsOneOf<Pool2D, Resize>(node.op)) return input(0);
  return kUnbounded;
}

Activation FusedActivationOf(const Op& op) {
  return std::visit(
      [](const auto& attributes) {
        using Type = std::decay_t<decltype(attributes)>;
        // An LSTM's is that of its cell: a projection may follow.
        if constexpr (requires { attributes.activation; } && !std::is_same_v<Type, Lstm>)
          return attributes.activation;
        else
          return Activation::kNone;
      },
      op);
}

// ---- Indices and integers ----

// Integers up to here are float16 numbers. Those of 8 bits are: pictures stay in 16 bits.
constexpr float kLargestExact = 2048;

constexpr int32_t kMostCoordinates = 4;  // of a point: three, and one for the shift

bool IsWideInteger(const TensorDesc& desc) {
  return !IsReal(desc) && BitsOf(desc.dtype) > 8;
}

bool IsComparison(const Op& op) {
  const auto* binary = std::get_if<Binary>(&op);
  return binary != nullptr && binary->kind >= BinaryKind::kEqual && binary->kind <= BinaryKind::kGreaterEqual;
}

// Whether the results can be integers whatever the operands are.
bool MakesIntegers(const Graph& graph, const Node& node) {
  if (std::holds_alternative<Cast>(node.op)) return !IsPlainFloat32(graph.value(node.inputs[0]).desc);
  if (const auto* binary = std::get_if<Binary>(&node.op)) return binary->kind == BinaryKind::kFloorDiv;
  const auto* unary = std::get_if<Unary>(&node.op);
  if (unary == nullptr) return std::holds_alternative<OneHot>(node.op);
  return unary->kind == UnaryKind::kFloor || unary->kind == UnaryKind::kCeil || unary->kind == UnaryKind::kRound ||
         unary->kind == UnaryKind::kSign;
}

// Whether integers are calculated with it. Others bound their results, or sum up products with weights of 16 bits.
bool PassesIntegers(const Op& op) {
  if (const auto* unary = std::get_if<Unary>(&op)) {
    switch (unary->kind) {
      case UnaryKind::kCos:
      case UnaryKind::kElu:
      case UnaryKind::kErf:
      case UnaryKind::kGelu:
      case UnaryKind::kGeluTanh:
      case UnaryKind::kHardSwish:
      case UnaryKind::kLogistic:
      case UnaryKind::kSin:
      case UnaryKind::kTanh:
      case UnaryKind::kQuantize:
      case UnaryKind::kDequantize: return false;
      default: return true;
    }
  }
  return OpDefOf(op).Has(kMovesElements) || IsOneOf<Binary, Cast, AddN, CumSum, Reduce, Pad, GatherNd, TopK>(op);
}

bool TakesAngle(const Op& op) {
  const auto* unary = std::get_if<Unary>(&op);
  return unary != nullptr && (unary->kind == UnaryKind::kSin || unary->kind == UnaryKind::kCos);
}

// Whether integers of the operands stay integers nearby.
bool MovesOrShifts(const Op& op) {
  if (const auto* binary = std::get_if<Binary>(&op)) {
    return binary->kind == BinaryKind::kAdd || binary->kind == BinaryKind::kSub ||
           binary->kind == BinaryKind::kMaximum || binary->kind == BinaryKind::kMinimum;
  }
  return OpDefOf(op).Has(kMovesElements);
}

// What is known of a value: whether its digits are those of integers, and not of a number that was rounded to 16 bits.
class IntegerSearch {
 public:
  explicit IntegerSearch(const Graph& graph)
      : graph_(graph),
        exact_(graph.values().size()),
        from_integers_(exact_),
        held_(exact_),
        cast_(exact_),
        place_(exact_) {
    for (size_t v = 0; v < exact_.size(); ++v) exact_[v] = graph.IsConstant(static_cast<ValueId>(v));
    for (const ValueId input : graph.inputs) exact_[input] = true;
    for (const StatePair& state : graph.states) exact_[state.read] = true;
  }

  std::vector<bool> Find() {
    do {
      for (const Node& node : graph_.nodes()) FollowResults(node);
      for (auto node = graph_.nodes().rbegin(); node != graph_.nodes().rend(); ++node) FollowOperands(*node);
    } while (TieStates());
    return held_;
  }

 private:
  bool IsReal32(ValueId value) const { return value != kNoValue && IsPlainFloat32(graph_.value(value).desc); }

  bool AnyOf(const std::vector<ValueId>& values, const std::vector<bool>& marks, bool mark = true) const {
    return std::ranges::any_of(values, [&](ValueId value) { return IsReal32(value) && marks[value] == mark; });
  }

  bool KeepsDigits(const Node& node) const {
    if (MakesIntegers(graph_, node)) return true;
    if (!PassesIntegers(node.op) || !AnyOf(node.inputs, exact_)) return false;
    // A sum with a number that has lost digits has lost them too; a concatenation's elements are independent.
    return OpDefOf(node.op).Has(kMovesElements) || !AnyOf(node.inputs, exact_, false);
  }

  void FollowResults(const Node& node) {
    const bool keeps = KeepsDigits(node);
    const bool is_cast = std::holds_alternative<Cast>(node.op) && IsWideInteger(graph_.value(node.inputs[0]).desc);
    const bool is_from_integers = is_cast || (PassesIntegers(node.op) && AnyOf(node.inputs, from_integers_));
    for (const ValueId output : node.outputs) {
      if (!IsReal32(output)) continue;
      exact_[output] = keeps;
      if (keeps && is_from_integers) from_integers_[output] = held_[output] = true;
    }
  }

  void FollowOperands(const Node& node) {
    const bool is_cast = std::holds_alternative<Cast>(node.op) && IsWideInteger(graph_.value(node.outputs[0]).desc);
    const bool becomes_one = PassesIntegers(node.op) && AnyOf(node.outputs, held_);
    const bool compares = ComparesIntegers(node);
    const bool is_cast_later = is_cast || (MovesOrShifts(node.op) && cast_[node.outputs[0]]);
    const bool becomes_place = RoundsBeforeCast(node) || (MakesPlaces(node) && AnyOf(node.outputs, place_));
    for (size_t k = 0; k < node.inputs.size(); ++k) {
      const ValueId input = node.inputs[k];
      if (!IsReal32(input)) continue;
      const bool is_place = becomes_place || (k == 1 && std::holds_alternative<Resampler>(node.op));
      if (is_cast_later) cast_[input] = true;
      if (is_place) place_[input] = true;
      if (is_cast || is_place || TakesAngle(node.op) || (exact_[input] && (becomes_one || compares)))
        held_[input] = true;
    }
  }

  // Whether places are calculated with it from others: by functions of elements, and by products with small matrices.
  bool MakesPlaces(const Node& node) const {
    if (IsOneOf<BatchMatMul, FullyConnected>(node.op)) {
      const Shape& shape = graph_.value(node.inputs[1]).desc.shape;
      return std::min(shape[shape.rank() - 1], shape[shape.rank() - 2]) <= kMostCoordinates;
    }
    return std::holds_alternative<Unary>(node.op) || PassesIntegers(node.op);
  }

  // Exact sums of products are rounded before they are cast, and so are places in a picture; moved between.
  bool RoundsBeforeCast(const Node& node) const {
    const auto* unary = std::get_if<Unary>(&node.op);
    return unary != nullptr && (unary->kind == UnaryKind::kRound || unary->kind == UnaryKind::kFloor) &&
           cast_[node.outputs[0]];
  }

  bool ComparesIntegers(const Node& node) const {
    if (!IsComparison(node.op)) return false;
    return std::ranges::any_of(node.inputs, [&](ValueId input) {
      if (!IsReal32(input)) return false;
      if (!graph_.IsConstant(input)) return static_cast<bool>(from_integers_[input]);
      const float largest = LargestMagnitudeOf(graph_, input);
      return std::isfinite(largest) && largest > kLargestExact;
    });
  }

  // A state's content before and after a run is held alike. Whether that changed anything.
  bool TieStates() {
    bool has_changed = false;
    for (const auto& [read, written] : graph_.states) {
      if (!IsReal32(read) || (held_[read] == held_[written] && from_integers_[read] >= from_integers_[written]))
        continue;
      held_[read] = held_[written] = has_changed = true;
      from_integers_[read] = from_integers_[read] || from_integers_[written];
    }
    return has_changed;
  }

  const Graph& graph_;
  // By value.
  std::vector<bool> exact_;          // not calculated from a number that 16 bits have rounded
  std::vector<bool> from_integers_;  // calculated from an integer
  std::vector<bool> held_;           // needs float32
  std::vector<bool> cast_;           // to a wide integer, perhaps after movement
  std::vector<bool> place_;          // in a picture, or rounded before such a cast: its fraction counts too
};

}  // namespace

std::vector<float> LargestMagnitudes(const Graph& graph) {
  std::vector<float> bounds;
  bounds.reserve(graph.values().size());
  for (const Value& value : graph.values()) bounds.push_back(OfGrid(value.desc));
  for (const Node& node : graph.nodes()) {
    if (node.outputs.size() != 1) continue;  // what bounds one does not bound the others
    float& bound = bounds[node.outputs[0]];
    const float of_activation = OfUnary(UnaryOf(FusedActivationOf(node.op)), kUnbounded);
    const float calculated = std::min(OfOperation(node, bounds), of_activation);
    bound = std::min(bound, calculated + OfRounding(graph.value(node.outputs[0]).desc));
  }
  return bounds;
}

float LargestMagnitudeOf(const Graph& graph, ValueId constant) {
  const TensorDesc& desc = graph.value(constant).desc;
  const OrderedBytes stored = graph.ReadConstant(constant);
  const FloatReader reader(desc, stored.bytes);
  std::array<float, 4096> part;
  float largest = 0;
  const int64_t count = desc.shape.element_count();
  for (int64_t first = 0; first < count; first += part.size()) {
    const auto read = std::min<int64_t>(part.size(), count - first);
    reader.Read(first, read, part.data());
    for (int64_t k = 0; k < read; ++k) largest = std::max(std::fabs(part[k]), largest);
    if (std::any_of(part.begin(), part.begin() + read, [](float number) { return std::isnan(number); }))
      return std::numeric_limits<float>::quiet_NaN();
  }
  return largest;
}

std::vector<bool> ValuesThatDecideIndices(const Graph& graph) {
  std::vector<bool> needed(graph.values().size(), false);
  for (auto node = graph.nodes().rbegin(); node != graph.nodes().rend(); ++node) {
    const bool chooses = OpDefOf(node->op).Has(kChoosesIndices);
    const bool feeds = std::any_of(node->outputs.begin(), node->outputs.end(), [&](ValueId v) { return needed[v]; });
    if (!chooses && !feeds) continue;
    for (ValueId input : Present(node->inputs)) needed[input] = true;
  }
  // The inputs of such a node may have 16 bits: that changes its results no more than rounding its inputs would.
  for (const Node& node : graph.nodes()) {
    if (!OpDefOf(node.op).Has(kFloat32Results)) continue;
    for (ValueId output : node.outputs) needed[output] = true;
  }
  return needed;
}

std::vector<bool> ValuesThatHoldIntegers(const Graph& graph) {
  return IntegerSearch(graph).Find();
}

}  // namespace hearth
