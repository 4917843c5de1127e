#include "core/ops/elementwise_table.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <numbers>

namespace hearth {
namespace {

double GeluTanh(double v) {
  const double scale = std::sqrt(2.0 * std::numbers::inv_pi);
  return 0.5 * v * (1.0 + std::tanh(scale * (v + 0.044715 * v * v * v)));
}

// The remainder with the sign of the divisor, as Python's and TFLite's.
double FloorMod(double a, double b) {
  const double remainder = std::fmod(a, b);
  return remainder != 0.0 && (b < 0.0) != (remainder < 0.0) ? remainder + b : remainder;
}

// Maxima and minima are written as comparisons that let a NaN in `v` through, as TFLite's do.
double Clamp(double v, double low, double high) {
  return v < low ? low : (high < v ? high : v);
}

constexpr UnaryRow kUnaryRows[] = {
    {UnaryKind::kAbs, "abs", [](double v, double) { return std::fabs(v); }, "vabs(v)"},
    {UnaryKind::kCeil, "ceil", [](double v, double) { return std::ceil(v); }, "vceil(v)"},
    {UnaryKind::kCos, "cos", [](double v, double) { return std::cos(v); }, "vcos(v)"},
    // vmin keeps the exponential finite where its value is not taken.
    {UnaryKind::kElu, "elu", [](double v, double) { return v < 0.0 ? std::expm1(v) : v; },
     "vselect_lt(v, splat4(0.0f), vexp(vmin(v, splat4(0.0f))) - splat4(1.0f), v)"},
    {UnaryKind::kExp, "exp", [](double v, double) { return std::exp(v); }, "vexp(v)"},
    {UnaryKind::kFloor, "floor", [](double v, double) { return std::floor(v); }, "vfloor(v)"},
    {UnaryKind::kGelu, "gelu", [](double v, double) { return 0.5 * v * std::erfc(-v / std::numbers::sqrt2); },
     "splat4(0.5f) * v * (splat4(1.0f) + verf(v * splat4(0.707106781f)))"},
    {UnaryKind::kGeluTanh, "gelu_tanh", [](double v, double) { return GeluTanh(v); },
     "splat4(0.5f) * v * (splat4(1.0f) + vtanh(vclamp(splat4(0.797884561f) * (v + splat4(0.044715f) * v * v * v), "
     "splat4(-10.0f), splat4(10.0f))))"},
    {UnaryKind::kHardSwish, "hard_swish", [](double v, double) { return v * Clamp(v + 3.0, 0.0, 6.0) / 6.0; },
     "v * vclamp(v + splat4(3.0f), splat4(0.0f), splat4(6.0f)) * splat4(0.166666667f)"},
    {UnaryKind::kLeakyRelu, "leaky_relu", [](double v, double alpha) { return v < 0.0 ? alpha * v : v; },
     "vselect_lt(v, splat4(0.0f), v * splat4(alpha), v)", true},
    {UnaryKind::kLog, "log", [](double v, double) { return std::log(v); }, "vlog(v)"},
    {UnaryKind::kLogistic, "logistic", [](double v, double) { return 1.0 / (1.0 + std::exp(-v)); },
     "splat4(1.0f) / (splat4(1.0f) + vexp(splat4(0.0f) - v))"},
    {UnaryKind::kNeg, "neg", [](double v, double) { return -v; }, "splat4(0.0f) - v"},
    {UnaryKind::kRelu, "relu", [](double v, double) { return v < 0.0 ? 0.0 : v; }, "vmax(v, splat4(0.0f))"},
    {UnaryKind::kRelu0To1, "relu_0_to_1", [](double v, double) { return Clamp(v, 0.0, 1.0); },
     "vclamp(v, splat4(0.0f), splat4(1.0f))"},
    {UnaryKind::kRelu6, "relu6", [](double v, double) { return Clamp(v, 0.0, 6.0); },
     "vclamp(v, splat4(0.0f), splat4(6.0f))"},
    {UnaryKind::kReluN1To1, "relu_n1_to_1", [](double v, double) { return Clamp(v, -1.0, 1.0); },
     "vclamp(v, splat4(-1.0f), splat4(1.0f))"},
    // Half to even in the default rounding mode, which nothing here changes.
    {UnaryKind::kRound, "round", [](double v, double) { return std::nearbyint(v); }, "vround(v)"},
    {UnaryKind::kRsqrt, "rsqrt", [](double v, double) { return 1.0 / std::sqrt(v); }, "vrsqrt(v)"},
    {UnaryKind::kSign, "sign", [](double v, double) { return v > 0.0 ? 1.0 : (v < 0.0 ? -1.0 : v); }, "vsign(v)"},
    {UnaryKind::kSin, "sin", [](double v, double) { return std::sin(v); }, "vsin(v)"},
    {UnaryKind::kSqrt, "sqrt", [](double v, double) { return std::sqrt(v); }, "vsqrt(v)"},
    {UnaryKind::kSquare, "square", [](double v, double) { return v * v; }, "v * v"},
    // A driver that computes tanh from exponentials overflows on large arguments; tanh(10) is 1 in float.
    {UnaryKind::kTanh, "tanh", [](double v, double) { return std::tanh(v); },
     "vtanh(vclamp(v, splat4(-10.0f), splat4(10.0f)))"},
    {UnaryKind::kCopy, "copy", [](double v, double) { return v; }, "v"},
};

constexpr BinaryRow kBinaryRows[] = {
    {BinaryKind::kAdd, "add", [](double a, double b) { return a + b; }, "a + b"},
    {BinaryKind::kSub, "sub", [](double a, double b) { return a - b; }, "a - b"},
    {BinaryKind::kMul, "mul", [](double a, double b) { return a * b; }, "a * b"},
    {BinaryKind::kDiv, "div", [](double a, double b) { return a / b; }, "a / b", false},
    {BinaryKind::kMaximum, "maximum", [](double a, double b) { return a < b ? b : a; }, "vmax(a, b)"},
    {BinaryKind::kMinimum, "minimum", [](double a, double b) { return b < a ? b : a; }, "vmin(a, b)"},
    {BinaryKind::kPow, "pow", [](double a, double b) { return std::pow(a, b); }, "vpow(a, b)", false},
    {BinaryKind::kSquaredDifference, "squared_difference", [](double a, double b) { return (a - b) * (a - b); },
     "(a - b) * (a - b)"},
    {BinaryKind::kFloorDiv, "floor_div", [](double a, double b) { return std::floor(a / b); }, "vfloor(a / b)"},
    {BinaryKind::kFloorMod, "floor_mod", [](double a, double b) { return FloorMod(a, b); }, "a - vfloor(a / b) * b"},
};

template <typename Row, size_t N>
constexpr bool RowsFollowKinds(const Row (&rows)[N]) {
  for (size_t i = 0; i < N; ++i) {
    if (static_cast<size_t>(rows[i].kind) != i) return false;
  }
  return true;
}
static_assert(RowsFollowKinds(kUnaryRows) && std::size(kUnaryRows) == static_cast<size_t>(UnaryKind::kCopy) + 1);
static_assert(RowsFollowKinds(kBinaryRows) && std::size(kBinaryRows) == static_cast<size_t>(BinaryKind::kFloorMod) + 1);

}  // namespace

const UnaryRow& RowOf(UnaryKind kind) {
  return kUnaryRows[static_cast<size_t>(kind)];
}
const BinaryRow& RowOf(BinaryKind kind) {
  return kBinaryRows[static_cast<size_t>(kind)];
}
std::span<const UnaryRow> UnaryRows() {
  return kUnaryRows;
}
std::span<const BinaryRow> BinaryRows() {
  return kBinaryRows;
}

UnaryKind UnaryOf(Activation activation) {
  switch (activation) {
    case Activation::kNone: return UnaryKind::kCopy;
    case Activation::kRelu: return UnaryKind::kRelu;
    case Activation::kRelu6: return UnaryKind::kRelu6;
    case Activation::kReluN1To1: return UnaryKind::kReluN1To1;
    case Activation::kTanh: return UnaryKind::kTanh;
    case Activation::kSigmoid: return UnaryKind::kLogistic;
  }
  return UnaryKind::kCopy;
}

void ApplyActivation(Activation activation, std::span<double> values) {
  if (activation == Activation::kNone) return;
  const auto function = RowOf(UnaryOf(activation)).function;
  std::transform(values.begin(), values.end(), values.begin(), [=](double v) { return function(v, 0.0); });
}

}  // namespace hearth
