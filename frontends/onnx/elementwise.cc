// Operators that compute each element by itself.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/base/error.h"
#include "core/graph/element.h"
#include "frontends/onnx/operators.h"

namespace hearth::onnx {
namespace {

// Kinds of ReadActivation: operators of one operand that others compose.
enum class Composed : uint8_t {
  kElu,
  kErf,
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
  Made Softplus() const {
    const Made exponential = One(UnaryKind::kExp, One(UnaryKind::kNeg, One(UnaryKind::kAbs, x_)));
    return Two(BinaryKind::kAdd, One(UnaryKind::kRelu, x_), One(UnaryKind::kLog, Plus(exponential, 1.0)));
  }
  // sqrt(1 - x^2)
  Made OtherSide() const {
    const Made product = Two(BinaryKind::kMul, Two(BinaryKind::kSub, Number(1.0), x_), Plus(x_, 1.0));
    return One(UnaryKind::kSqrt, product);
  }
  // Of gelu(v) = v (1 + erf(v / sqrt(2))) / 2; near 0, where v divides, the first two terms of the series.
  Made Erf() const {
    const Made v = Times(x_, std::numbers::sqrt2);
    const Made far = Plus(Times(Two(BinaryKind::kDiv, One(UnaryKind::kGelu, v), v), 2.0), -1.0);
    const Made near = Two(BinaryKind::kMul, x_,
                          Plus(Times(One(UnaryKind::kSquare, x_), -2.0 / 3.0 * std::numbers::inv_sqrtpi),
                               2.0 * std::numbers::inv_sqrtpi));
    return Choose(Less(One(UnaryKind::kAbs, x_), Number(0.02)), near, far);
  }
  // (exp(x) + sign * exp(-x)) / 2
  Made Hyperbolic(double sign) const {
    const Made falling = Times(One(UnaryKind::kExp, One(UnaryKind::kNeg, x_)), sign);
    return Times(Two(BinaryKind::kAdd, One(UnaryKind::kExp, x_), falling), 0.5);
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
    case Composed::kErf: return c.Erf();
    case Composed::kCelu: return c.Elu(alpha(1.0), alpha(1.0), 1.0);
    case Composed::kSelu: return c.Elu(alpha(1.6732632423543772), 1.0, op.Float("gamma", 1.0507009873554805));
    case Composed::kSoftplus: return c.Softplus();
    case Composed::kMish: return c.Two(BinaryKind::kMul, x, c.One(UnaryKind::kTanh, c.Softplus()));
    case Composed::kSoftsign: return c.Two(BinaryKind::kDiv, x, c.Plus(c.One(UnaryKind::kAbs, x), 1.0));
    case Composed::kHardSigmoid: {
      return c.One(UnaryKind::kRelu0To1, c.Plus(c.Times(x, alpha(0.2)), op.Float("beta", 0.5)));
    }
    case Composed::kThresholdedRelu: return c.Choose(c.Less(c.Number(alpha(1.0)), x), x, c.Number(0.0));
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
    case Composed::kSinh: return c.Hyperbolic(-1.0);
    case Composed::kCosh: return c.Hyperbolic(1.0);
    case Composed::kAsinh: {
      const Made root = c.One(UnaryKind::kSqrt, c.Plus(c.One(UnaryKind::kSquare, x), 1.0));
      const Made log = c.One(UnaryKind::kLog, c.Two(BinaryKind::kAdd, c.One(UnaryKind::kAbs, x), root));
      return c.Two(BinaryKind::kMul, c.One(UnaryKind::kSign, x), log);
    }
    case Composed::kAcosh: {
      const Made root = c.One(UnaryKind::kSqrt, c.Plus(c.One(UnaryKind::kSquare, x), -1.0));
      return c.One(UnaryKind::kLog, c.Two(BinaryKind::kAdd, x, root));
    }
    case Composed::kAtanh: {
      const Made ratio = c.Two(BinaryKind::kDiv, c.Plus(x, 1.0), c.Two(BinaryKind::kSub, c.Number(1.0), x));
      return c.Times(c.One(UnaryKind::kLog, ratio), 0.5);
    }
  }
  return Error(StatusCode::kInternal, "a row without a composition");
}

// The remainder with the sign of the dividend.
Made TruncatedRemainder(NodeWriter& to, ValueId a, ValueId b) {
  const Made size = to.Add(BinaryKind::kFloorMod, {to.Add(UnaryKind::kAbs, a), to.Add(UnaryKind::kAbs, b)});
  return to.Add(BinaryKind::kMul, {to.Add(UnaryKind::kSign, a), size});
}

Results ReadUnary(OpView& op) {
  const Order order = op.OrderOf(0);
  HEARTH_ASSIGN(const ValueId x, op.In(0, order));
  auto kind = static_cast<UnaryKind>(op.kind());
  if (kind == UnaryKind::kGelu && op.Text("approximate", "none") == "tanh") kind = UnaryKind::kGeluTanh;
  const Unary unary{.kind = kind, .alpha = static_cast<float>(op.Float("alpha", 0.01))};
  return InOrder(order, op.to().Add(kind == UnaryKind::kLeakyRelu ? unary : Unary{.kind = kind}, {x}));
}

Results ReadActivation(OpView& op) {
  const Order order = op.OrderOf(0);
  HEARTH_ASSIGN(const ValueId x, op.In(0, order));
  return InOrder(order, Compose(op, Composer(op.to(), x), x));
}

// Of x, or of x and operand 1.
Results ReadBiasedUnary(OpView& op) {
  HEARTH_ASSIGN(const Aligned aligned, Align(op, 0, op.Has(1) ? 2 : 1));
  const Made x = op.Has(1) ? op.to().Add(BinaryKind::kAdd, aligned.values) : Made(aligned.values[0]);
  return aligned.Result(op.to().Add(static_cast<UnaryKind>(op.kind()), x));
}

Results ReadBinary(OpView& op) {
  HEARTH_ASSIGN(Aligned aligned, Align(op, 0, 2));
  NodeWriter& to = op.to();
  const auto kind = static_cast<BinaryKind>(op.kind());
  const DType base = to.desc(aligned.values[0]).dtype, other = to.desc(aligned.values[1]).dtype;
  if (kind != BinaryKind::kPow || base == other) return aligned.Result(to.Add(kind, aligned.values));
  // The result has the base's type. Whole powers of integers stay exact.
  HEARTH_ASSIGN(const std::vector<float> powers, op.IsConstant(1) ? op.Floats(1) : std::vector<float>());
  const auto is_whole = [](float p) { return p >= 0.0f && p < 64.0f && p == std::floor(p); };
  const bool are_whole = !powers.empty() && std::ranges::all_of(powers, is_whole);
  const DType common = IsFloat(base) || !IsFloat(other) || are_whole ? base : other;
  const Made power = to.Add(kind, {to.AddCast(aligned.values[0], common), to.AddCast(aligned.values[1], common)});
  return aligned.Result(to.AddCast(power, base));
}

Results ReadMod(OpView& op) {
  HEARTH_ASSIGN(const Aligned aligned, Align(op, 0, 2));
  const ValueId a = aligned.values[0], b = aligned.values[1];
  const DType dtype = op.to().desc(a).dtype;
  if (op.Int("fmod", 0) != 0) return aligned.Result(TruncatedRemainder(op.to(), a, b));
  if (IsFloat(dtype)) return Error(StatusCode::kMalformedInput, "fmod=0 with {}", DTypeName(dtype));
  return aligned.Result(op.to().Add(BinaryKind::kFloorMod, {a, b}));
}

Results ReadVariadic(OpView& op) {
  HEARTH_ASSIGN(const Aligned aligned, Align(op, 0, op.input_count()));
  if (aligned.values.empty()) return Error(StatusCode::kMalformedInput, "it has no operands");
  const bool is_mean = op.kind() < 0;
  Made made = aligned.values[0];
  for (size_t k = 1; k < aligned.values.size(); ++k) {
    made = op.to().Add(is_mean ? BinaryKind::kAdd : static_cast<BinaryKind>(op.kind()), {made, aligned.values[k]});
  }
  const double share = 1.0 / static_cast<double>(aligned.values.size());
  if (is_mean && made.ok()) made = op.to().Add(BinaryKind::kMul, {made, AddScalarLike(op.to(), *made, share)});
  return aligned.Result(made);
}

Results ReadIdentity(OpView& op) {
  const Order order = op.OrderOf(0);
  HEARTH_ASSIGN(const ValueId x, op.In(0, order));
  Results made = InOrder(order, x);
  if (!op.HasOutput(1)) return made;
  // Dropout's mask.
  HEARTH_ASSIGN(const TensorDesc desc, op.Desc(0));
  HEARTH_ASSIGN(const ValueId mask, op.to().AddFilled(desc.shape, op.to().AddNumber(DType::kBool, 1.0)));
  made->push_back({.plain = mask});
  return made;
}

Results ReadDropout(OpView& op) {
  const bool trains = op.Has(2) && (!op.IsConstant(2) || !op.Number(2).ok() || *op.Number(2) != 0.0);
  if (trains) return Error(StatusCode::kUnsupported, "it is in training mode: export the model for inference");
  return ReadIdentity(op);
}

Results ReadCast(OpView& op) {
  int32_t type = static_cast<int32_t>(op.Int("to", 0));
  std::optional<DType> dtype = ComputedTypeOf(type);
  if (op.kind() != 0) {  // CastLike
    HEARTH_ASSIGN(const TensorDesc like, op.Desc(1));
    dtype = like.dtype;
  }
  if (!dtype) return UnknownType(type);
  const Order order = op.OrderOf(0);
  return InOrder(order, op.to().AddCast(op.In(0, order), *dtype));
}

Results ReadClip(OpView& op) {
  NodeWriter& to = op.to();
  const Order order = op.OrderOf(0);
  HEARTH_ASSIGN(const ValueId x, op.In(0, order));
  const bool has_attributes = op.opset() < 11;
  const auto bound = [&](size_t i, std::string_view name) -> Made {
    if (has_attributes) return op.Find(name) == nullptr ? Made(kNoValue) : AddScalarLike(to, x, op.Float(name, 0.0));
    return op.Has(i) ? to.AddReshape(op.In(i), Shape()) : Made(kNoValue);
  };
  HEARTH_ASSIGN(const ValueId least, bound(1, "min"));
  HEARTH_ASSIGN(const ValueId most, bound(2, "max"));
  const auto is_number = [&](ValueId id, double number) {
    return id != kNoValue && to.IsConstant(id) && IsFloat(to.desc(id).dtype) && to.Number(id).ok() &&
           *to.Number(id) == number;
  };
  // Bounds that have an operation of their own, which joins the node before.
  if (is_number(least, 0.0) && is_number(most, 6.0)) return InOrder(order, to.Add(UnaryKind::kRelu6, x));
  if (is_number(least, 0.0) && most == kNoValue) return InOrder(order, to.Add(UnaryKind::kRelu, x));
  const Made above = least == kNoValue ? Made(x) : to.Add(BinaryKind::kMaximum, {x, least});
  return InOrder(order, most == kNoValue ? above : to.Add(BinaryKind::kMinimum, {above, most}));
}

Results ReadIsNan(OpView& op) {
  const Order order = op.OrderOf(0);
  HEARTH_ASSIGN(const ValueId x, op.In(0, order));
  return InOrder(order, op.to().Add(BinaryKind::kNotEqual, {x, x}));
}

Results ReadIsInf(OpView& op) {
  NodeWriter& to = op.to();
  const Order order = op.OrderOf(0);
  HEARTH_ASSIGN(ValueId x, op.In(0, order));
  const bool takes_above = op.Int("detect_positive", 1) != 0, takes_below = op.Int("detect_negative", 1) != 0;
  if (takes_above && takes_below) {
    HEARTH_ASSIGN(x, to.Add(UnaryKind::kAbs, x));
  }
  const double infinity = std::numeric_limits<double>::infinity();
  const Made wanted = AddScalarLike(to, x, takes_above ? infinity : takes_below ? -infinity : std::nan(""));
  return InOrder(order, to.Add(BinaryKind::kEqual, {x, wanted}));
}

// (a xor b) xor (a and b)
Results ReadBitwiseOr(OpView& op) {
  HEARTH_ASSIGN(const Aligned aligned, Align(op, 0, 2));
  const ValueId a = aligned.values[0], b = aligned.values[1];
  return aligned.Result(op.to().Add(BinaryKind::kBitwiseXor, {op.to().Add(BinaryKind::kBitwiseXor, {a, b}),
                                                              op.to().Add(BinaryKind::kBitwiseAnd, {a, b})}));
}

// To the left: times a power of 2, which is the highest bit shifted down. By more bits than there are: 0.
Results ReadBitShift(OpView& op) {
  NodeWriter& to = op.to();
  HEARTH_ASSIGN(const Aligned aligned, Align(op, 0, 2));
  const ValueId a = aligned.values[0], b = aligned.values[1];
  const std::string_view direction = op.Text("direction", "");
  const DType dtype = to.desc(a).dtype;
  if ((direction != "LEFT" && direction != "RIGHT") || dtype == DType::kUInt64) {
    return Error(StatusCode::kUnsupported, "the direction '{}' of {}", direction.substr(0, 40), DTypeName(dtype));
  }
  const auto number = [&](double n) { return AddScalarLike(to, a, n); };
  const int bits = BitsOf(dtype);
  const auto shift = [&](const Made& x, const Made& by) { return to.Add(BinaryKind::kRightShift, {x, by}); };
  const Made power = shift(number(std::exp2(bits - 1)), to.Add(BinaryKind::kSub, {number(bits - 1), b}));
  const Made shifted = direction == "RIGHT" ? shift(a, b) : to.Add(BinaryKind::kMul, {a, power});
  return aligned.Result(to.Add(Select{}, {to.Add(BinaryKind::kLess, {b, number(bits)}), shifted, number(0)}));
}

Results ReadBitwiseNot(OpView& op) {
  const Order order = op.OrderOf(0);
  HEARTH_ASSIGN(const ValueId x, op.In(0, order));
  const DType dtype = op.to().desc(x).dtype;
  const bool is_unsigned = dtype == DType::kUInt8 || dtype == DType::kUInt16 || dtype == DType::kUInt32;
  if (dtype == DType::kUInt64) return Error(StatusCode::kUnsupported, "elements of uint64");
  const double ones = is_unsigned ? std::exp2(BitsOf(dtype)) - 1 : -1.0;
  return InOrder(order, op.to().Add(BinaryKind::kBitwiseXor, {x, AddScalarLike(op.to(), x, ones)}));
}

Results ReadWhereOrPRelu(OpView& op) {
  const bool is_where = op.kind() == 0;
  HEARTH_ASSIGN(const Aligned aligned, Align(op, 0, is_where ? 3 : 2));
  return aligned.Result(op.to().Add(is_where ? Op(Select{}) : Op(PRelu{}), aligned.values));
}

}  // namespace

std::span<const OperatorRow> ElementwiseOperators() {
  static constexpr OperatorRow kRows[] = {
      {"Abs", ReadUnary, Kind(UnaryKind::kAbs)},
      {"Acos", ReadActivation, Kind(Composed::kAcos)},
      {"Acosh", ReadActivation, Kind(Composed::kAcosh)},
      {"Add", ReadBinary, Kind(BinaryKind::kAdd)},
      {"And", ReadBinary, Kind(BinaryKind::kLogicalAnd)},
      {"Asin", ReadActivation, Kind(Composed::kAsin)},
      {"Asinh", ReadActivation, Kind(Composed::kAsinh)},
      {"Atan", ReadActivation, Kind(Composed::kAtan)},
      {"Atanh", ReadActivation, Kind(Composed::kAtanh)},
      {"BitShift", ReadBitShift},
      {"BitwiseAnd", ReadBinary, Kind(BinaryKind::kBitwiseAnd)},
      {"BitwiseNot", ReadBitwiseNot},
      {"BitwiseOr", ReadBitwiseOr},
      {"BitwiseXor", ReadBinary, Kind(BinaryKind::kBitwiseXor)},
      {"Cast", ReadCast},
      {"CastLike", ReadCast, 1},
      {"Ceil", ReadUnary, Kind(UnaryKind::kCeil)},
      {"Celu", ReadActivation, Kind(Composed::kCelu)},
      {"Clip", ReadClip},
      {"Cos", ReadUnary, Kind(UnaryKind::kCos)},
      {"Cosh", ReadActivation, Kind(Composed::kCosh)},
      {"Div", ReadBinary, Kind(BinaryKind::kDiv)},
      {"Dropout", ReadDropout},
      {"Elu", ReadActivation, Kind(Composed::kElu)},
      {"Equal", ReadBinary, Kind(BinaryKind::kEqual)},
      {"Erf", ReadActivation, Kind(Composed::kErf)},
      {"Exp", ReadUnary, Kind(UnaryKind::kExp)},
      {"Floor", ReadUnary, Kind(UnaryKind::kFloor)},
      {"Gelu", ReadUnary, Kind(UnaryKind::kGelu)},
      {"Greater", ReadBinary, Kind(BinaryKind::kGreater)},
      {"GreaterOrEqual", ReadBinary, Kind(BinaryKind::kGreaterEqual)},
      {"HardSigmoid", ReadActivation, Kind(Composed::kHardSigmoid)},
      {"HardSwish", ReadUnary, Kind(UnaryKind::kHardSwish)},
      {"Identity", ReadIdentity},
      {"IsInf", ReadIsInf},
      {"IsNaN", ReadIsNan},
      {"LeakyRelu", ReadUnary, Kind(UnaryKind::kLeakyRelu)},
      {"Less", ReadBinary, Kind(BinaryKind::kLess)},
      {"LessOrEqual", ReadBinary, Kind(BinaryKind::kLessEqual)},
      {"Log", ReadUnary, Kind(UnaryKind::kLog)},
      {"Max", ReadVariadic, Kind(BinaryKind::kMaximum)},
      {"Mean", ReadVariadic, -1},
      {"Min", ReadVariadic, Kind(BinaryKind::kMinimum)},
      {"Mish", ReadActivation, Kind(Composed::kMish)},
      {"Mod", ReadMod},
      {"Mul", ReadBinary, Kind(BinaryKind::kMul)},
      {"Neg", ReadUnary, Kind(UnaryKind::kNeg)},
      {"Not", ReadUnary, Kind(UnaryKind::kLogicalNot)},
      {"Or", ReadBinary, Kind(BinaryKind::kLogicalOr)},
      {"PRelu", ReadWhereOrPRelu, 1},
      {"Pow", ReadBinary, Kind(BinaryKind::kPow)},
      {"Reciprocal", ReadActivation, Kind(Composed::kReciprocal)},
      {"Relu", ReadUnary, Kind(UnaryKind::kRelu)},
      {"Round", ReadUnary, Kind(UnaryKind::kRound)},
      {"Selu", ReadActivation, Kind(Composed::kSelu)},
      {"Shrink", ReadActivation, Kind(Composed::kShrink)},
      {"Sigmoid", ReadUnary, Kind(UnaryKind::kLogistic)},
      {"Sign", ReadUnary, Kind(UnaryKind::kSign)},
      {"Sin", ReadUnary, Kind(UnaryKind::kSin)},
      {"Sinh", ReadActivation, Kind(Composed::kSinh)},
      {"Softplus", ReadActivation, Kind(Composed::kSoftplus)},
      {"Softsign", ReadActivation, Kind(Composed::kSoftsign)},
      {"Sqrt", ReadUnary, Kind(UnaryKind::kSqrt)},
      {"Sub", ReadBinary, Kind(BinaryKind::kSub)},
      {"Sum", ReadVariadic, Kind(BinaryKind::kAdd)},
      {"Swish", ReadActivation, Kind(Composed::kSwish)},
      {"Tan", ReadActivation, Kind(Composed::kTan)},
      {"Tanh", ReadUnary, Kind(UnaryKind::kTanh)},
      {"ThresholdedRelu", ReadActivation, Kind(Composed::kThresholdedRelu)},
      {"Where", ReadWhereOrPRelu},
      {"Xor", ReadBinary, Kind(BinaryKind::kNotEqual)},
      {"BiasGelu", ReadBiasedUnary, Kind(UnaryKind::kGelu), kMicrosoft},
      {"FastGelu", ReadBiasedUnary, Kind(UnaryKind::kGeluTanh), kMicrosoft},
      {"Gelu", ReadUnary, Kind(UnaryKind::kGelu), kMicrosoft},
      {"QuickGelu", ReadActivation, Kind(Composed::kQuickGelu), kMicrosoft},
  };
  return kRows;
}

}  // namespace hearth::onnx
