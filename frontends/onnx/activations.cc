// Activations and functions of one operand that are composed of Hearth's operations.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "frontends/onnx/operators.h"
#include "frontends/onnx/shared.h"

namespace hearth::onnx {
namespace {

enum class Composed : uint8_t {
  kElu,
  kCelu,
  kSelu,
  kSoftplus,
  kMish,
  kSoftsign,
  kHardSigmoid,
  kThresholdedRelu,
  kShrink,
  kSwish,
  kQuickGelu,
  kReciprocal,
  kTan,
  kAtan,
  kAsin,
  kAcos,
  kSinh,
  kCosh,
  kAsinh,
  kAcosh,
  kAtanh
};

// What an activation or function is composed of.
class Composer {
 public:
  Composer(NodeWriter& to, ValueId x) : to_(to), x_(x) {}

  Made Number(double number) const { return AddScalarLike(to_, x_, number); }
  Made Two(BinaryKind kind, const Made& a, const Made& b) const { return to_.Add(kind, {a, b}); }
  Made One(UnaryKind kind, const Made& a) const { return to_.Add(kind, a); }
  Made Times(const Made& a, double number) const {
    return number == 1.0 ? a : Two(BinaryKind::kMul, a, Number(number));
  }
  Made Plus(const Made& a, double number) const { return Two(BinaryKind::kAdd, a, Number(number)); }
  Made Less(const Made& a, const Made& b) const { return Two(BinaryKind::kLess, a, b); }
  Made Choose(const Made& condition, const Made& a, const Made& b) const {
    return to_.Add(Select{}, {condition, a, b});
  }

  // scale * (x above 0, alpha * (exp(x / divisor) - 1) below)
  Made Elu(double alpha, double divisor, double scale) const {
    const Made bent = One(UnaryKind::kElu, Times(x_, 1.0 / divisor));
    if (alpha == 1.0 && divisor == 1.0) return Times(bent, scale);
    const Made below = Times(Two(BinaryKind::kMinimum, bent, Number(0.0)), alpha * scale);
    return Two(BinaryKind::kAdd, Times(One(UnaryKind::kRelu, x_), scale), below);
  }
  Made HardSigmoid(double alpha, double beta) const { return One(UnaryKind::kRelu0To1, Plus(Times(x_, alpha), beta)); }
  Made ThresholdedRelu(double alpha) const { return Choose(Less(Number(alpha), x_), x_, Number(0.0)); }
  Made Softsign() const { return Two(BinaryKind::kDiv, x_, Plus(Magnitude(), 1.0)); }
  Made Magnitude() const { return One(UnaryKind::kAbs, x_); }
  Made Signed(const Made& magnitude) const { return Two(BinaryKind::kMul, One(UnaryKind::kSign, x_), magnitude); }
  // atanh(s) of 0 to 1/3 by its series (NIST's Handbook of Mathematical Functions, 4.38.5); the first term left out is
  // 1e-8 of the sum, and in float64 1e-20.
  Made AtanhSeries(const Made& s) const {
    const Made z = One(UnaryKind::kSquare, s);
    const int last = to_.desc(x_).dtype == DType::kFloat64 ? 37 : 13;
    Made sum = Plus(Times(z, 1.0 / last), 1.0 / (last - 2));
    for (int odd = last - 4; odd > 0; odd -= 2) sum = Plus(Two(BinaryKind::kMul, sum, z), 1.0 / odd);
    return Two(BinaryKind::kMul, sum, s);
  }
  // log(1 + u) of 0 to 1: 1 + u has lost the digits of a small u.
  Made Log1p(const Made& u) const { return Times(AtanhSeries(Two(BinaryKind::kDiv, u, Plus(u, 2.0))), 2.0); }
  Made Softplus() const {
    const Made exponential = One(UnaryKind::kExp, One(UnaryKind::kNeg, Magnitude()));
    return Two(BinaryKind::kAdd, One(UnaryKind::kRelu, x_), Log1p(exponential));
  }
  // x tanh(softplus(x)) = x n / (n + 2) with n = e^x (e^x + 2); from 20 on it is x.
  Made Mish() const {
    const Made e = One(UnaryKind::kExp, Two(BinaryKind::kMinimum, x_, Number(20.0)));
    const Made n = Two(BinaryKind::kMul, e, Plus(e, 2.0));
    return Two(BinaryKind::kMul, x_, Two(BinaryKind::kDiv, n, Plus(n, 2.0)));
  }
  // sqrt(1 - x^2)
  Made OtherSide() const {
    const Made product = Two(BinaryKind::kMul, Two(BinaryKind::kSub, Number(1.0), x_), Plus(x_, 1.0));
    return One(UnaryKind::kSqrt, product);
  }
  // With a = |x|: e^a/2 times `share`, in two factors, since e^a alone may be infinite.
  Made HalfGrown(const Made& share) const {
    const Made root = One(UnaryKind::kExp, Times(Magnitude(), 0.5));
    return Two(BinaryKind::kMul, root, Two(BinaryKind::kMul, root, Times(share, 0.5)));
  }
  // e^a/2 times 1 - e^-2a, which ELU computes without a loss.
  Made Sinh() const {
    const Made share = One(UnaryKind::kNeg, One(UnaryKind::kElu, Times(Magnitude(), -2.0)));
    return Signed(HalfGrown(share));
  }
  Made Cosh() const { return HalfGrown(Plus(One(UnaryKind::kExp, Times(Magnitude(), -2.0)), 1.0)); }
  // log(a + sqrt(a^2 + 1)), small numbers by log1p, and where a^2 may be infinite log(2a).
  Made Asinh() const {
    const Made a = Magnitude();
    const Made square = One(UnaryKind::kSquare, Two(BinaryKind::kMinimum, a, Number(1e9)));
    const Made root = One(UnaryKind::kSqrt, Plus(square, 1.0));
    const Made more = Two(BinaryKind::kDiv, square, Plus(root, 1.0));
    const Made near = Log1p(Two(BinaryKind::kMinimum, Two(BinaryKind::kAdd, a, more), Number(1.0)));
    const Made middle = One(UnaryKind::kLog, Two(BinaryKind::kAdd, a, root));
    const Made far = Plus(One(UnaryKind::kLog, a), std::numbers::ln2);
    return Signed(Choose(Less(a, Number(0.5)), near, Choose(Less(a, Number(1e9)), middle, far)));
  }
  // log(x) + log1p(sqrt(x - 1) sqrt(x + 1) / x); no number below 1.
  Made Acosh() const {
    const Made root =
        Two(BinaryKind::kMul, One(UnaryKind::kSqrt, Plus(x_, -1.0)), One(UnaryKind::kSqrt, Plus(x_, 1.0)));
    // From 1e9 on the root is x.
    const Made share = Choose(Less(x_, Number(1e9)), Two(BinaryKind::kDiv, root, x_), Number(1.0));
    return Two(BinaryKind::kAdd, One(UnaryKind::kLog, x_), Log1p(share));
  }
  Made Atanh() const {
    const Made ratio = Two(BinaryKind::kDiv, Plus(x_, 1.0), Two(BinaryKind::kSub, Number(1.0), x_));
    const Made far = Times(One(UnaryKind::kLog, ratio), 0.5);
    return Choose(Less(Magnitude(), Number(1.0 / 3.0)), AtanhSeries(x_), far);
  }

 private:
  NodeWriter& to_;
  ValueId x_;
};

// An operator that is composed of others.
Made Compose(const OpView& op, const Composer& c, ValueId x) {
  const auto alpha = [&](double otherwise) { return op.Float("alpha", otherwise); };
  switch (static_cast<Composed>(op.kind())) {
    case Composed::kElu: return c.Elu(alpha(1.0), 1.0, 1.0);
    case Composed::kCelu: return c.Elu(alpha(1.0), alpha(1.0), 1.0);
    case Composed::kSelu: return c.Elu(alpha(1.6732632423543772), 1.0, op.Float("gamma", 1.0507009873554805));
    case Composed::kSoftplus: return c.Softplus();
    case Composed::kMish: return c.Mish();
    case Composed::kSoftsign: return c.Softsign();
    case Composed::kHardSigmoid: return c.HardSigmoid(alpha(0.2), op.Float("beta", 0.5));
    case Composed::kThresholdedRelu: return c.ThresholdedRelu(alpha(1.0));
    case Composed::kShrink: {
      const double lambda = op.Float("lambd", 0.5), bias = op.Float("bias", 0.0);
      const Made above = c.Choose(c.Less(c.Number(lambda), x), c.Plus(x, -bias), c.Number(0.0));
      return c.Choose(c.Less(x, c.Number(-lambda)), c.Plus(x, bias), above);
    }
    case Composed::kSwish: return c.Two(BinaryKind::kMul, x, c.One(UnaryKind::kLogistic, c.Times(x, alpha(1.0))));
    case Composed::kQuickGelu: return c.Two(BinaryKind::kMul, x, c.One(UnaryKind::kLogistic, c.Times(x, alpha(1.702))));
    case Composed::kReciprocal: return c.Two(BinaryKind::kDiv, c.Number(1.0), x);
    case Composed::kTan: return c.Two(BinaryKind::kDiv, c.One(UnaryKind::kSin, x), c.One(UnaryKind::kCos, x));
    case Composed::kAtan: return c.Two(BinaryKind::kAtan2, x, c.Number(1.0));
    case Composed::kAsin: return c.Two(BinaryKind::kAtan2, x, c.OtherSide());
    case Composed::kAcos: return c.Two(BinaryKind::kAtan2, c.OtherSide(), x);
    case Composed::kSinh: return c.Sinh();
    case Composed::kCosh: return c.Cosh();
    case Composed::kAsinh: return c.Asinh();
    case Composed::kAcosh: return c.Acosh();
    case Composed::kAtanh: return c.Atanh();
  }
  return Error(StatusCode::kInternal, "a row without a composition");
}

Results ReadActivation(OpView& op, GraphWriter& to) {
  const Order order = op.OrderOf(0);
  HEARTH_ASSIGN(const ValueId x, op.In(0, order));
  const DType dtype = to.desc(x).dtype;
  if (IsFloat(dtype)) return InOrder(order, Compose(op, Composer(to, x), x));
  // Shrink of integers: its bound and bias are no integers, and onnxruntime adds them in float32.
  HEARTH_ASSIGN(const ValueId real, to.AddCast(x, DType::kFloat32));
  return InOrder(order, to.AddCast(Compose(op, Composer(to, real), real), dtype));
}

}  // namespace

Made AddActivation(NodeWriter& to, std::string_view name, const Made& x, double alpha, double beta) {
  HEARTH_TRY(x.status());
  const Composer c(to, *x);
  if (name == "Relu") return c.One(UnaryKind::kRelu, x);
  if (name == "Tanh") return c.One(UnaryKind::kTanh, x);
  if (name == "Sigmoid") return c.One(UnaryKind::kLogistic, x);
  if (name == "HardSwish") return c.One(UnaryKind::kHardSwish, x);
  if (name == "HardSigmoid") return c.HardSigmoid(alpha, beta);
  if (name == "LeakyRelu") return to.Add(Unary{.kind = UnaryKind::kLeakyRelu, .alpha = static_cast<float>(alpha)}, {x});
  if (name == "Elu") return c.Elu(alpha, 1.0, 1.0);
  if (name == "Softsign") return c.Softsign();
  if (name == "ThresholdedRelu") return c.ThresholdedRelu(alpha);
  if (name == "Affine") return c.Plus(c.Times(x, alpha), beta);
  if (name == "ScaledTanh") return c.Times(c.One(UnaryKind::kTanh, c.Times(x, beta)), alpha);
  return Error(StatusCode::kUnsupported, "the activation '{}'", name.substr(0, 40));
}

Made AddFusedActivation(const OpView& op, const Made& x) {
  const std::string_view name = op.Text("activation", "");
  if (!x.ok() || name.empty()) return x;
  std::vector<float> numbers;
  for (const char* number : {"activation_alpha", "activation_beta"}) {
    if (op.Find(number) != nullptr) numbers.push_back(static_cast<float>(op.Float(number, 0.0)));
  }
  if (const AttributeProto* given = op.Find("activation_params"); given != nullptr) numbers = given->floats;
  if (name == "Clip" && numbers.size() > 1) {
    const Composer c(op.to(), *x);
    return c.Two(BinaryKind::kMinimum, c.Two(BinaryKind::kMaximum, x, c.Number(numbers[0])), c.Number(numbers[1]));
  }
  constexpr std::pair<std::string_view, size_t> kFused[] = {{"Relu", 0},      {"Tanh", 0},      {"Sigmoid", 0},
                                                            {"HardSwish", 0}, {"LeakyRelu", 1}, {"HardSigmoid", 2}};
  for (const auto& [fused, needed] : kFused) {
    if (name != fused || numbers.size() < needed) continue;
    numbers.resize(std::max<size_t>(numbers.size(), 2));
    return AddActivation(op.to(), name, x, numbers[0], numbers[1]);
  }
  return Error(StatusCode::kUnsupported, "the activation '{}' with {} numbers", name.substr(0, 40), numbers.size());
}

constexpr OperatorRow kActivationRows[] = {
    {"Acos", ReadActivation, Kind(Composed::kAcos)},
    {"Acosh", ReadActivation, Kind(Composed::kAcosh)},
    {"Asin", ReadActivation, Kind(Composed::kAsin)},
    {"Asinh", ReadActivation, Kind(Composed::kAsinh)},
    {"Atan", ReadActivation, Kind(Composed::kAtan)},
    {"Atanh", ReadActivation, Kind(Composed::kAtanh)},
    {"Celu", ReadActivation, Kind(Composed::kCelu)},
    {"Cosh", ReadActivation, Kind(Composed::kCosh)},
    {"Elu", ReadActivation, Kind(Composed::kElu)},
    {"HardSigmoid", ReadActivation, Kind(Composed::kHardSigmoid)},
    {"Mish", ReadActivation, Kind(Composed::kMish)},
    {"Reciprocal", ReadActivation, Kind(Composed::kReciprocal)},
    {"Selu", ReadActivation, Kind(Composed::kSelu)},
    {"Shrink", ReadActivation, Kind(Composed::kShrink)},
    {"Sinh", ReadActivation, Kind(Composed::kSinh)},
    {"Softplus", ReadActivation, Kind(Composed::kSoftplus)},
    {"Softsign", ReadActivation, Kind(Composed::kSoftsign)},
    {"Swish", ReadActivation, Kind(Composed::kSwish)},
    {"Tan", ReadActivation, Kind(Composed::kTan)},
    {"ThresholdedRelu", ReadActivation, Kind(Composed::kThresholdedRelu)},
    {"QuickGelu", ReadActivation, Kind(Composed::kQuickGelu), kMicrosoft},
};
const OperatorList kActivationOperators = kActivationRows;

}  // namespace hearth::onnx
