#include "core/graph/ops/elementwise_table.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <numbers>

#include "core/base/contains.h"
#include "core/base/numbers.h"

namespace hearth {
namespace {

// v (1 + tanh(u)) / 2 with u = sqrt(2 / pi) (v + 0.044715 v^3), in a form that keeps its digits where tanh(u) is near
// -1.
double GeluTanh(double v) {
  const double scale = std::sqrt(8.0 * std::numbers::inv_pi);
  return v / (1.0 + std::exp(-scale * (v + 0.044715 * v * v * v)));
}

// The remainder with the sign of the divisor, as in Python and TFLite.
double FloorMod(double a, double b) {
  const double remainder = std::fmod(a, b);
  return remainder != 0.0 && (b < 0.0) != (remainder < 0.0) ? remainder + b : remainder;
}

// Integer division. A divisor of 0, an error in TFLite, counts as 1. Calculated in uint64_t, where overflow wraps.
int64_t Quotient(int64_t a, int64_t b) {
  if (b == 0) return a;
  return b == -1 ? static_cast<int64_t>(0 - static_cast<uint64_t>(a)) : a / b;
}
int64_t Product(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
int64_t Difference(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
int64_t FloorQuotient(int64_t a, int64_t b) {
  const int64_t quotient = Quotient(a, b);
  const bool has_remainder = b != 0 && Product(quotient, b) != a;
  return has_remainder && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

// By repeated squaring, as on devices. A negative exponent gives the truncated power, and 0 for a base of 0.
int64_t Power(int64_t a, int64_t b) {
  if (b < 0) return a == 1 ? 1 : a == -1 ? 1 - 2 * (b & 1) : 0;
  int64_t result = 1;
  for (; b > 0; b >>= 1) {
    if ((b & 1) != 0) result = Product(result, a);
    a = Product(a, a);
  }
  return result;
}

// Comparisons in this form let a NaN in `v` through.
double Clamp(double v, double low, double high) {
  return v < low ? low : (high < v ? high : v);
}

constexpr UnaryRow kUnaryRows[] = {
    {UnaryKind::kAbs, "abs", [](double v, double) { return std::fabs(v); }, "vabs(v)",
     [](int64_t v) { return v < 0 ? Difference(0, v) : v; }, "vselect_lt(v, splat_int4(0), splat_int4(0) - v, v)"},
    {UnaryKind::kCeil, "ceil", [](double v, double) { return std::ceil(v); }, "vceil(v)"},
    {UnaryKind::kCos, "cos", [](double v, double) { return std::cos(v); }, "vcos(v)"},
    // e^v - 1 = tanh(v / 2) (e^v + 1), which keeps its digits near 0. vmin keeps the exponential finite in components
    // that the selection drops.
    {UnaryKind::kElu, "elu", [](double v, double) { return v < 0.0 ? std::expm1(v) : v; },
     "vselect_lt(v, splat4(0.0f), vtanh(vmin(v, splat4(0.0f)) * splat4(0.5f)) * (vexp(vmin(v, splat4(0.0f))) + "
     "splat4(1.0f)), v)"},
    {UnaryKind::kErf, "erf", [](double v, double) { return std::erf(v); }, "verf(v)"},
    {UnaryKind::kExp, "exp", [](double v, double) { return std::exp(v); }, "vexp(v)", nullptr, "",
     ElementRule::kNumbers, true},
    {UnaryKind::kFloor, "floor", [](double v, double) { return std::floor(v); }, "vfloor(v)"},
    {UnaryKind::kGelu, "gelu", [](double v, double) { return 0.5 * v * std::erfc(-v / std::numbers::sqrt2); },
     "splat4(0.5f) * v * verfc(v * splat4(-0.707106781f))"},
    {UnaryKind::kGeluTanh, "gelu_tanh", [](double v, double) { return GeluTanh(v); },
     "v / (splat4(1.0f) + vexp(splat4(-1.59576912f) * (v + splat4(0.044715f) * v * v * v)))"},
    {UnaryKind::kHardSwish, "hard_swish", [](double v, double) { return v * Clamp(v + 3.0, 0.0, 6.0) / 6.0; },
     "v * (vclamp(v + splat4(3.0f), splat4(0.0f), splat4(6.0f)) * splat4(0.166666667f))"},
    {UnaryKind::kLeakyRelu, "leaky_relu", [](double v, double alpha) { return v < 0.0 ? alpha * v : v; },
     "vselect_lt(v, splat4(0.0f), v * splat4(alpha), v)", nullptr, "", ElementRule::kNumbers, false, true},
    {UnaryKind::kLog, "log", [](double v, double) { return std::log(v); }, "vlog(v)", nullptr, "",
     ElementRule::kNumbers, true},
    {UnaryKind::kLogistic, "logistic", [](double v, double) { return 1.0 / (1.0 + std::exp(-v)); },
     "splat4(1.0f) / (splat4(1.0f) + vexp(splat4(0.0f) - v))"},
    {UnaryKind::kNeg, "neg", [](double v, double) { return -v; }, "splat4(0.0f) - v",
     [](int64_t v) { return Difference(0, v); }, "splat_int4(0) - v"},
    {UnaryKind::kRelu, "relu", [](double v, double) { return v < 0.0 ? 0.0 : v; }, "vmax(v, splat4(0.0f))"},
    {UnaryKind::kRelu0To1, "relu_0_to_1", [](double v, double) { return Clamp(v, 0.0, 1.0); },
     "vclamp(v, splat4(0.0f), splat4(1.0f))"},
    {UnaryKind::kRelu6, "relu6", [](double v, double) { return Clamp(v, 0.0, 6.0); },
     "vclamp(v, splat4(0.0f), splat4(6.0f))"},
    {UnaryKind::kReluN1To1, "relu_n1_to_1", [](double v, double) { return Clamp(v, -1.0, 1.0); },
     "vclamp(v, splat4(-1.0f), splat4(1.0f))"},
    // Rounds half to even: that is the default rounding mode, which nothing here changes.
    {UnaryKind::kRound, "round", [](double v, double) { return std::nearbyint(v); }, "vround(v)"},
    {UnaryKind::kRsqrt, "rsqrt", [](double v, double) { return 1.0 / std::sqrt(v); }, "vrsqrt(v)", nullptr, "",
     ElementRule::kNumbers, true},
    {UnaryKind::kSign, "sign", [](double v, double) { return v > 0.0 ? 1.0 : (v < 0.0 ? -1.0 : v); }, "vsign(v)",
     [](int64_t v) { return int64_t{v > 0} - int64_t{v < 0}; },
     "vselect_lt(v, splat_int4(0), splat_int4(-1), vselect_lt(splat_int4(0), v, splat_int4(1), v))"},
    {UnaryKind::kSin, "sin", [](double v, double) { return std::sin(v); }, "vsin(v)"},
    {UnaryKind::kSqrt, "sqrt", [](double v, double) { return std::sqrt(v); }, "vsqrt(v)", nullptr, "",
     ElementRule::kNumbers, true},
    {UnaryKind::kSquare, "square", [](double v, double) { return v * v; }, "v * v",
     [](int64_t v) { return Product(v, v); }, "v * v"},
    {UnaryKind::kTanh, "tanh", [](double v, double) { return std::tanh(v); }, "vtanh(v)"},
    {UnaryKind::kLogicalNot, "logical_not", [](double v, double) { return 1.0 - v; }, "splat4(1.0f) - v", nullptr, "",
     ElementRule::kLogical},
    // The store rounds to the output's grid; the load dequantizes.
    {UnaryKind::kQuantize, "quantize", [](double v, double) { return v; }, "v", nullptr, "", ElementRule::kConverted},
    {UnaryKind::kDequantize, "dequantize", [](double v, double) { return v; }, "v", nullptr, "",
     ElementRule::kConverted},
    {UnaryKind::kCopy, "copy", [](double v, double) { return v; }, "v", [](int64_t v) { return v; }, "v"},
};

constexpr BinaryRow kBinaryRows[] = {
    {BinaryKind::kAdd, "add", [](double a, double b) { return a + b; }, "a + b",
     [](int64_t a, int64_t b, int) { return Difference(a, Difference(0, b)); }, "a + b"},
    {BinaryKind::kSub, "sub", [](double a, double b) { return a - b; }, "a - b",
     [](int64_t a, int64_t b, int) { return Difference(a, b); }, "a - b"},
    {BinaryKind::kMul, "mul", [](double a, double b) { return a * b; }, "a * b",
     [](int64_t a, int64_t b, int) { return Product(a, b); }, "a * b"},
    {BinaryKind::kDiv, "div", [](double a, double b) { return a / b; }, "a / b",
     [](int64_t a, int64_t b, int) { return Quotient(a, b); }, "vquotient(a, b)", ElementRule::kNumbers, true},
    {BinaryKind::kMaximum, "maximum", [](double a, double b) { return LargerOf(a, b); }, "vmax(a, b)", nullptr,
     "vselect_lt(a, b, b, a)"},
    {BinaryKind::kMinimum, "minimum", [](double a, double b) { return SmallerOf(a, b); }, "vmin(a, b)", nullptr,
     "vselect_lt(b, a, b, a)"},
    {BinaryKind::kPow, "pow", [](double a, double b) { return std::pow(a, b); }, "vpow(a, b)",
     [](int64_t a, int64_t b, int) { return Power(a, b); }, "vpower(a, b)", ElementRule::kNumbers, true},
    {BinaryKind::kSquaredDifference, "squared_difference", [](double a, double b) { return (a - b) * (a - b); },
     "(a - b) * (a - b)", [](int64_t a, int64_t b, int) { return Product(Difference(a, b), Difference(a, b)); },
     "(a - b) * (a - b)"},
    {BinaryKind::kFloorDiv, "floor_div", [](double a, double b) { return std::floor(a / b); }, "vfloor_div(a, b)",
     [](int64_t a, int64_t b, int) { return FloorQuotient(a, b); }, "vfloor_quotient(a, b)", ElementRule::kNumbers,
     true},
    {BinaryKind::kFloorMod, "floor_mod", [](double a, double b) { return FloorMod(a, b); }, "vfloor_mod(a, b)",
     [](int64_t a, int64_t b, int) { return b == 0 ? 0 : Difference(a, Product(FloorQuotient(a, b), b)); },
     "vfloor_remainder(a, b)", ElementRule::kNumbers, true},
    {BinaryKind::kAtan2, "atan2", [](double a, double b) { return std::atan2(a, b); }, "vatan2(a, b)"},
    {BinaryKind::kEqual, "equal", [](double a, double b) { return a == b ? 1.0 : 0.0; }, "vequal(a, b)", nullptr,
     "vequal(a, b)", ElementRule::kCompared},
    {BinaryKind::kNotEqual, "not_equal", [](double a, double b) { return a != b ? 1.0 : 0.0; },
     "splat4(1.0f) - vequal(a, b)", nullptr, "splat4(1.0f) - vequal(a, b)", ElementRule::kCompared},
    {BinaryKind::kLess, "less", [](double a, double b) { return a < b ? 1.0 : 0.0; }, "vless(a, b)", nullptr,
     "vless(a, b)", ElementRule::kCompared},
    {BinaryKind::kLessEqual, "less_equal", [](double a, double b) { return a <= b ? 1.0 : 0.0; }, "vless_equal(a, b)",
     nullptr, "vless_equal(a, b)", ElementRule::kCompared},
    {BinaryKind::kGreater, "greater", [](double a, double b) { return a > b ? 1.0 : 0.0; }, "vless(b, a)", nullptr,
     "vless(b, a)", ElementRule::kCompared},
    {BinaryKind::kGreaterEqual, "greater_equal", [](double a, double b) { return a >= b ? 1.0 : 0.0; },
     "vless_equal(b, a)", nullptr, "vless_equal(b, a)", ElementRule::kCompared},
    {BinaryKind::kLogicalAnd, "logical_and", [](double a, double b) { return a * b; }, "a * b", nullptr, "",
     ElementRule::kLogical},
    {BinaryKind::kLogicalOr, "logical_or", [](double a, double b) { return a < b ? b : a; }, "vmax(a, b)", nullptr, "",
     ElementRule::kLogical},
    {BinaryKind::kBitwiseXor, "bitwise_xor", nullptr, "", [](int64_t a, int64_t b, int) { return a ^ b; }, "a ^ b"},
    {BinaryKind::kBitwiseAnd, "bitwise_and", nullptr, "", [](int64_t a, int64_t b, int) { return a & b; }, "a & b"},
    {BinaryKind::kRightShift, "right_shift", nullptr, "",
     [](int64_t a, int64_t b, int bits) { return a >> std::clamp<int64_t>(b, 0, bits - 1); },
     "a >> vselect_lt(b, splat_int4(0), splat_int4(0), vselect_lt(b, splat_int4(type_bits), b, "
     "splat_int4(type_bits - 1)))"},
};

constexpr float kInfinity = std::numeric_limits<float>::infinity();
struct ActivationRow {
  Activation activation;
  std::string_view name;
  UnaryKind unary;
  std::optional<std::pair<float, float>> bounds;
};
constexpr ActivationRow kActivationRows[] = {
    {Activation::kNone, "none", UnaryKind::kCopy, {{-kInfinity, kInfinity}}},
    {Activation::kRelu, "relu", UnaryKind::kRelu, {{0.0f, kInfinity}}},
    {Activation::kRelu6, "relu6", UnaryKind::kRelu6, {{0.0f, 6.0f}}},
    {Activation::kReluN1To1, "relu_n1_to_1", UnaryKind::kReluN1To1, {{-1.0f, 1.0f}}},
    {Activation::kTanh, "tanh", UnaryKind::kTanh, {}},
    {Activation::kSigmoid, "sigmoid", UnaryKind::kLogistic, {}},
};

static_assert(AreInOrder(kUnaryRows, &UnaryRow::kind) &&
              std::size(kUnaryRows) == static_cast<size_t>(UnaryKind::kCopy) + 1);
static_assert(AreInOrder(kBinaryRows, &BinaryRow::kind) &&
              std::size(kBinaryRows) == static_cast<size_t>(BinaryKind::kRightShift) + 1);
static_assert(AreInOrder(kActivationRows, &ActivationRow::activation) &&
              std::size(kActivationRows) == static_cast<size_t>(Activation::kSigmoid) + 1);

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

std::string_view ActivationName(Activation activation) {
  return kActivationRows[static_cast<size_t>(activation)].name;
}

UnaryKind UnaryOf(Activation activation) {
  return kActivationRows[static_cast<size_t>(activation)].unary;
}

std::optional<std::pair<float, float>> ActivationBounds(Activation activation) {
  return kActivationRows[static_cast<size_t>(activation)].bounds;
}

void ApplyActivation(Activation activation, std::span<double> values) {
  if (activation == Activation::kNone) return;
  const auto function = RowOf(UnaryOf(activation)).function;
  std::transform(values.begin(), values.end(), values.begin(), [=](double v) { return function(v, 0.0); });
}

}  // namespace hearth
