// Operators that compute each element by itself.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/graph/element.h"
#include "frontends/onnx/operators.h"
#include "frontends/onnx/shared.h"
#include "frontends/writer/rows.h"

namespace hearth::onnx {
namespace {

// The remainder with the sign of the dividend. Of integers from the one with the divisor's sign: the magnitude of the
// smallest integer is none.
Made TruncatedRemainder(NodeWriter& to, ValueId a, ValueId b) {
  if (!IsFloat(to.desc(a).dtype)) {
    const auto less = [&](const Made& x, const Made& y) { return to.Add(BinaryKind::kLess, {x, y}); };
    const Made floored = to.Add(BinaryKind::kFloorMod, {a, b}), zero = AddScalarLike(to, a, 0.0);
    const Made other = to.Add(BinaryKind::kSub, {floored, b});
    const Made of_negative = to.Add(Select{}, {less(zero, floored), other, floored});
    const Made of_positive = to.Add(Select{}, {less(floored, zero), other, floored});
    return to.Add(Select{}, {less(a, zero), of_negative, of_positive});
  }
  const Made size = to.Add(BinaryKind::kFloorMod, {to.Add(UnaryKind::kAbs, a), to.Add(UnaryKind::kAbs, b)});
  return to.Add(BinaryKind::kMul, {to.Add(UnaryKind::kSign, a), size});
}

Results ReadUnary(OpView& op, GraphWriter& to) {
  const Order order = op.OrderOf(0);
  HEARTH_ASSIGN(const ValueId x, op.In(0, order));
  auto kind = static_cast<UnaryKind>(op.kind());
  const TensorDesc desc = to.desc(x);
  if (kind == UnaryKind::kRelu && !IsFloat(desc.dtype) && !desc.quantization)
    return InOrder(order, to.Add(BinaryKind::kMaximum, {x, AddScalarLike(to, x, 0.0)}));
  if (kind == UnaryKind::kGelu && op.Text("approximate", "none") == "tanh") kind = UnaryKind::kGeluTanh;
  const Unary unary{.kind = kind, .alpha = static_cast<float>(op.Float("alpha", 0.01))};
  return InOrder(order, to.Add(kind == UnaryKind::kLeakyRelu ? unary : Unary{.kind = kind}, {x}));
}

// Of x, or of x and operand 1.
Results ReadBiasedUnary(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const Aligned aligned, Align(op, 0, op.Has(1) ? 2 : 1));
  const Made x = op.Has(1) ? to.Add(Binary{.kind = BinaryKind::kAdd}, aligned.values) : Made(aligned.values[0]);
  return aligned.Result(to.Add(static_cast<UnaryKind>(op.kind()), x));
}

Results ReadBinary(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(Aligned aligned, Align(op, 0, 2));
  const auto kind = static_cast<BinaryKind>(op.kind());
  const DType base = to.desc(aligned.values[0]).dtype, other = to.desc(aligned.values[1]).dtype;
  if (kind != BinaryKind::kPow || base == other) return aligned.Result(to.Add(Binary{.kind = kind}, aligned.values));
  // The result has the base's type. Whole powers of integers stay exact; others are cut off, so that float32, in which
  // devices have 168.99 for the power 1 of 169, would give another integer.
  HEARTH_ASSIGN(const std::vector<float> powers, op.IsConstant(1) ? op.Floats(1) : std::vector<float>());
  const auto is_whole = [](float p) { return p >= 0.0f && p < 64.0f && p == std::floor(p); };
  const bool are_whole = !powers.empty() && std::ranges::all_of(powers, is_whole);
  const DType common = IsFloat(base) || !IsFloat(other) || are_whole ? base : DType::kFloat64;
  const Made power = to.Add(kind, {to.AddCast(aligned.values[0], common), to.AddCast(aligned.values[1], common)});
  return aligned.Result(to.AddCast(power, base));
}

Results ReadMod(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const Aligned aligned, Align(op, 0, 2));
  const ValueId a = aligned.values[0], b = aligned.values[1];
  const DType dtype = to.desc(a).dtype;
  if (op.Int("fmod", 0) != 0) return aligned.Result(TruncatedRemainder(to, a, b));
  if (IsFloat(dtype)) return Error(StatusCode::kMalformedInput, "fmod=0 with {}", DTypeName(dtype));
  return aligned.Result(to.Add(BinaryKind::kFloorMod, {a, b}));
}

Results ReadVariadic(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const Aligned aligned, Align(op, 0, op.input_count()));
  if (aligned.values.empty()) return Error(StatusCode::kMalformedInput, "it has no operands");
  const bool is_mean = op.kind() < 0;
  Made made = aligned.values[0];
  for (size_t k = 1; k < aligned.values.size(); ++k) {
    made = to.Add(is_mean ? BinaryKind::kAdd : static_cast<BinaryKind>(op.kind()), {made, aligned.values[k]});
  }
  const double share = 1.0 / static_cast<double>(aligned.values.size());
  if (is_mean && made.ok()) made = to.Add(BinaryKind::kMul, {made, AddScalarLike(to, *made, share)});
  return aligned.Result(made);
}

// The tensor itself, in all forms that it has.
Results ReadIdentity(OpView& op, GraphWriter& to) {
  if (!op.Has(0)) return op.In(0).status();
  HEARTH_ASSIGN(const Tensor* tensor, op.scope().Read(op.node().inputs[0]));
  std::vector<Tensor> made{*tensor};
  if (!op.HasOutput(1)) return made;
  // Dropout's mask.
  HEARTH_ASSIGN(const TensorDesc desc, op.Desc(0));
  const Made plain = op.In(0);
  HEARTH_TRY(plain.status());
  const Made ones = to.AddFilled(desc.shape, to.AddNumber(DType::kBool, 1.0));
  HEARTH_ASSIGN(const ValueId mask, WithRows(to, ones, to.marks().OpenOf(*plain)));
  made.push_back({.plain = mask});
  return made;
}

Results ReadDropout(OpView& op, GraphWriter& to) {
  const bool trains = op.Has(2) && (!op.IsConstant(2) || !op.Number(2).ok() || *op.Number(2) != 0.0);
  if (trains) return Error(StatusCode::kUnsupported, "it is in training mode: export the model for inference");
  return ReadIdentity(op, to);
}

// Whether the operand is weights of few bits, which are real numbers already.
Result<bool> HasStoredReals(OpView& op) {
  if (!op.Has(0)) return false;
  HEARTH_ASSIGN(const Tensor* tensor, op.scope().Read(op.node().inputs[0]));
  const ValueId stored = tensor->stored != kNoValue ? tensor->stored : tensor->turned;
  return stored != kNoValue && IsOfFewBits(op.to().desc(stored));
}

Results ReadCast(OpView& op, GraphWriter& to) {
  int32_t type = static_cast<int32_t>(op.Int("to", 0));
  std::optional<DType> dtype = ComputedTypeOf(type);
  HEARTH_ASSIGN(const bool has_reals, HasStoredReals(op));
  if (op.kind() == 0 && dtype == DType::kFloat32 && has_reals) return ReadIdentity(op, to);
  HEARTH_ASSIGN(const ValueId given, op.In(0, op.OrderOf(0)));
  const bool is_text = to.marks().texts.contains(given);
  if (is_text && type == kString) return ReadIdentity(op, to);
  if (is_text) return Error(StatusCode::kUnsupported, "numbers of texts");
  if (op.kind() != 0) {  // CastLike
    HEARTH_ASSIGN(const ValueId like, op.In(1));
    if (to.marks().narrow_integers.contains(like)) return UnknownType(kInt4);
    dtype = to.desc(like).dtype;
  }
  if (!dtype) return UnknownType(type);
  const Order order = op.OrderOf(0);
  return InOrder(order, to.AddCast(op.In(0, order), *dtype));
}

Results ReadClip(OpView& op, GraphWriter& to) {
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

Results ReadIsNan(OpView& op, GraphWriter& to) {
  const Order order = op.OrderOf(0);
  HEARTH_ASSIGN(const ValueId x, op.In(0, order));
  return InOrder(order, to.Add(BinaryKind::kNotEqual, {x, x}));
}

Results ReadIsInf(OpView& op, GraphWriter& to) {
  const Order order = op.OrderOf(0);
  HEARTH_ASSIGN(ValueId x, op.In(0, order));
  const bool takes_above = op.Int("detect_positive", 1) != 0, takes_below = op.Int("detect_negative", 1) != 0;
  HEARTH_ASSIGN(x, takes_above && takes_below ? to.Add(UnaryKind::kAbs, x) : Made(x));
  const double infinity = std::numeric_limits<double>::infinity();
  const Made wanted = AddScalarLike(to, x, takes_above ? infinity : takes_below ? -infinity : std::nan(""));
  return InOrder(order, to.Add(BinaryKind::kEqual, {x, wanted}));
}

// (a xor b) xor (a and b)
Results ReadBitwiseOr(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const Aligned aligned, Align(op, 0, 2));
  const ValueId a = aligned.values[0], b = aligned.values[1];
  return aligned.Result(to.Add(BinaryKind::kBitwiseXor,
                               {to.Add(BinaryKind::kBitwiseXor, {a, b}), to.Add(BinaryKind::kBitwiseAnd, {a, b})}));
}

// To the left: times a power of 2, which is the highest bit shifted down. By more bits than there are: 0.
Results ReadBitShift(OpView& op, GraphWriter& to) {
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

Results ReadBitwiseNot(OpView& op, GraphWriter& to) {
  const Order order = op.OrderOf(0);
  HEARTH_ASSIGN(const ValueId x, op.In(0, order));
  const DType dtype = to.desc(x).dtype;
  const bool is_unsigned = dtype == DType::kUInt8 || dtype == DType::kUInt16 || dtype == DType::kUInt32;
  if (dtype == DType::kUInt64) return Error(StatusCode::kUnsupported, "elements of uint64");
  const double ones = is_unsigned ? std::exp2(BitsOf(dtype)) - 1 : -1.0;
  return InOrder(order, to.Add(BinaryKind::kBitwiseXor, {x, AddScalarLike(to, x, ones)}));
}

Results ReadWhereOrPRelu(OpView& op, GraphWriter& to) {
  const bool is_where = op.kind() == 0;
  HEARTH_ASSIGN(const Aligned aligned, Align(op, 0, is_where ? 3 : 2));
  return aligned.Result(to.Add(is_where ? Op(Select{}) : Op(PRelu{}), aligned.values));
}

}  // namespace

constexpr OperatorRow kElementwiseRows[] = {
    {"Abs", ReadUnary, Kind(UnaryKind::kAbs)},
    {"Add", ReadBinary, Kind(BinaryKind::kAdd)},
    {"And", ReadBinary, Kind(BinaryKind::kLogicalAnd)},
    {"BitShift", ReadBitShift},
    {"BitwiseAnd", ReadBinary, Kind(BinaryKind::kBitwiseAnd)},
    {"BitwiseNot", ReadBitwiseNot},
    {"BitwiseOr", ReadBitwiseOr},
    {"BitwiseXor", ReadBinary, Kind(BinaryKind::kBitwiseXor)},
    {"Cast", ReadCast},
    {"CastLike", ReadCast, 1},
    {"Ceil", ReadUnary, Kind(UnaryKind::kCeil)},
    {"Clip", ReadClip},
    {"Cos", ReadUnary, Kind(UnaryKind::kCos)},
    {"Div", ReadBinary, Kind(BinaryKind::kDiv)},
    {"Dropout", ReadDropout},
    {"Equal", ReadBinary, Kind(BinaryKind::kEqual)},
    {"Erf", ReadUnary, Kind(UnaryKind::kErf)},
    {"Exp", ReadUnary, Kind(UnaryKind::kExp)},
    {"Floor", ReadUnary, Kind(UnaryKind::kFloor)},
    {"Gelu", ReadUnary, Kind(UnaryKind::kGelu)},
    {"Greater", ReadBinary, Kind(BinaryKind::kGreater)},
    {"GreaterOrEqual", ReadBinary, Kind(BinaryKind::kGreaterEqual)},
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
    {"Mod", ReadMod},
    {"Mul", ReadBinary, Kind(BinaryKind::kMul)},
    {"Neg", ReadUnary, Kind(UnaryKind::kNeg)},
    {"Not", ReadUnary, Kind(UnaryKind::kLogicalNot)},
    {"Or", ReadBinary, Kind(BinaryKind::kLogicalOr)},
    {"PRelu", ReadWhereOrPRelu, 1},
    {"Pow", ReadBinary, Kind(BinaryKind::kPow)},
    {"Relu", ReadUnary, Kind(UnaryKind::kRelu)},
    {"Round", ReadUnary, Kind(UnaryKind::kRound)},
    {"Sigmoid", ReadUnary, Kind(UnaryKind::kLogistic)},
    {"Sign", ReadUnary, Kind(UnaryKind::kSign)},
    {"Sin", ReadUnary, Kind(UnaryKind::kSin)},
    {"Sqrt", ReadUnary, Kind(UnaryKind::kSqrt)},
    {"Sub", ReadBinary, Kind(BinaryKind::kSub)},
    {"Sum", ReadVariadic, Kind(BinaryKind::kAdd)},
    {"Tanh", ReadUnary, Kind(UnaryKind::kTanh)},
    {"Where", ReadWhereOrPRelu},
    {"Xor", ReadBinary, Kind(BinaryKind::kNotEqual)},
    {"BiasGelu", ReadBiasedUnary, Kind(UnaryKind::kGelu), kMicrosoft},
    {"FastGelu", ReadBiasedUnary, Kind(UnaryKind::kGeluTanh), kMicrosoft},
    {"Gelu", ReadUnary, Kind(UnaryKind::kGelu), kMicrosoft},
};
const OperatorList kElementwiseOperators = kElementwiseRows;

}  // namespace hearth::onnx
