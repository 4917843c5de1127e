#include "core/graph/value_bounds.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>
#include <variant>

#include "core/graph/float_reader.h"
#include "core/graph/op_def.h"
#include "core/graph/quantize.h"

namespace hearth {
namespace {

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

float OfActivation(Activation activation) {
  switch (activation) {
    case Activation::kRelu6: return 6;
    case Activation::kReluN1To1:
    case Activation::kTanh:
    case Activation::kSigmoid: return 1;
    case Activation::kNone:
    case Activation::kRelu: break;
  }
  return kUnbounded;
}

float OfUnary(UnaryKind kind, float input) {
  switch (kind) {
    case UnaryKind::kCos:
    case UnaryKind::kLogistic:
    case UnaryKind::kRelu0To1:
    case UnaryKind::kReluN1To1:
    case UnaryKind::kSign:
    case UnaryKind::kSin:
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
    const bool is_there = k < node.inputs.size() && node.inputs[k] != kNoValue;
    return is_there ? bounds[node.inputs[k]] : kUnbounded;
  };
  if (OpDefOf(node.op).Has(kMovesElements)) {
    float largest = 0;
    for (size_t k = 0; k < node.inputs.size(); ++k) largest = std::max(largest, input(k));
    return largest;
  }
  if (const auto* unary = std::get_if<Unary>(&node.op)) return OfUnary(unary->kind, input(0));
  if (const auto* binary = std::get_if<Binary>(&node.op)) return OfBinary(binary->kind, input(0), input(1));
  if (std::holds_alternative<Softmax>(node.op) || std::holds_alternative<L2Normalization>(node.op)) return 1;
  if (const auto* pad = std::get_if<Pad>(&node.op))
    return std::max(input(0), static_cast<float>(std::fabs(pad->value)));
  // Averages, roots of mean squares, maxima; between neighbours.
  if (std::holds_alternative<Pool2D>(node.op) || std::holds_alternative<Resize>(node.op)) return input(0);
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

}  // namespace

std::vector<float> LargestMagnitudes(const Graph& graph) {
  std::vector<float> bounds;
  bounds.reserve(graph.values().size());
  for (const Value& value : graph.values()) bounds.push_back(OfGrid(value.desc));
  for (const Node& node : graph.nodes()) {
    if (node.outputs.size() != 1) continue;  // what bounds one does not bound the others
    float& bound = bounds[node.outputs[0]];
    const float calculated = std::min(OfOperation(node, bounds), OfActivation(FusedActivationOf(node.op)));
    bound = std::min(bound, calculated + OfRounding(graph.value(node.outputs[0]).desc));
  }
  return bounds;
}

float LargestMagnitudeOf(const Graph& graph, ValueId constant) {
  const TensorDesc& desc = graph.value(constant).desc;
  const FloatReader reader(desc, graph.ConstantBytes(constant));
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

}  // namespace hearth
