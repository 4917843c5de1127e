// Quantized operators, composed of plain integers and float32. Sums of products of 8-bit integers are exact: they are
// taken in parts that stay below 2^24.
#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/graph/evaluate.h"
#include "frontends/onnx/operators.h"
#include "frontends/onnx/product.h"
#include "frontends/onnx/windows.h"

namespace hearth::onnx {
namespace {

constexpr double kExactBelow = 1 << 24;  // float32 has all integers

Result<std::pair<double, double>> RangeOf(DType dtype) {
  switch (dtype) {
    case DType::kUInt8: return std::pair(0.0, 255.0);
    case DType::kInt8: return std::pair(-128.0, 127.0);
    case DType::kUInt16: return std::pair(0.0, 65535.0);
    case DType::kInt16: return std::pair(-32768.0, 32767.0);
    default: return Error(StatusCode::kUnsupported, "quantized elements of {}", DTypeName(dtype));
  }
}

// A list of numbers per element of dimension `axis`, ready to be broadcast; a single number stays one.
Made AlongAxis(NodeWriter& to, ValueId list, int axis, int rank) {
  const Shape shape = to.shape(list);
  if (shape.element_count() == 1) return to.AddReshape(list, Shape());
  if (shape.rank() != 1 || axis < 0) {
    return Error(StatusCode::kUnsupported, "scales or zero points of shape {}", shape.ToString());
  }
  std::vector<int32_t> dims(static_cast<size_t>(rank), 1);
  dims[static_cast<size_t>(axis)] = shape[0];
  return to.AddReshape(list, Shape::FromSpan(dims));
}

// saturate(round(x / scale) + zero point), as plain integers. Without a zero point: kNoValue.
Made Quantized(NodeWriter& to, const Made& x, const Made& scale, const Made& zero_point, DType dtype) {
  HEARTH_ASSIGN(const ValueId real, to.AddCast(x, DType::kFloat32));
  HEARTH_ASSIGN(const auto range, RangeOf(dtype));
  Made made = to.Add(UnaryKind::kRound, to.Add(BinaryKind::kDiv, {real, to.AddCast(scale, DType::kFloat32)}));
  HEARTH_TRY(zero_point.status());
  if (*zero_point != kNoValue) made = to.Add(BinaryKind::kAdd, {made, to.AddCast(zero_point, DType::kFloat32)});
  made = to.Add(BinaryKind::kMaximum, {made, AddScalarLike(to, real, range.first)});
  made = to.Add(BinaryKind::kMinimum, {made, AddScalarLike(to, real, range.second)});
  return to.AddCast(made, dtype);
}

// x - zero point, in float32.
Made Centered(NodeWriter& to, const Made& x, const Made& zero_point) {
  HEARTH_TRY(zero_point.status());
  const Made real = to.AddCast(x, DType::kFloat32);
  return *zero_point == kNoValue ? real : to.Add(BinaryKind::kSub, {real, to.AddCast(zero_point, DType::kFloat32)});
}

// The positions of a product's operands: its factors, and the zero point of each, which may be absent.
struct Factors {
  size_t a = 0, b = 1, a_zero = 2, b_zero = 3;
};
constexpr Factors kPlainFactors, kScaledFactors{.b = 3, .b_zero = 5};

// Operands whose sums of products are exact.
Status CheckEightBits(const OpView& op, const Factors& at) {
  for (const size_t i : {at.a, at.b, at.a_zero, at.b_zero}) {
    if (!op.Has(i)) continue;
    HEARTH_ASSIGN(const TensorDesc desc, op.Desc(i));
    if (desc.dtype == DType::kInt8 || desc.dtype == DType::kUInt8) continue;
    return Error(StatusCode::kUnsupported, "a factor or zero point of {}", DTypeName(desc.dtype));
  }
  return Status::Ok();
}

// The largest size among the elements of a constant, or what 8 bits and their zero point allow.
double LargestOf(const NodeWriter& to, ValueId id) {
  if (!to.IsConstant(id)) return 255.0;
  const Result<std::vector<float>> floats = ConstantAsFloats(to.graph(), id);
  if (!floats.ok()) return 255.0;
  double largest = 1.0;
  for (const float number : *floats) largest = std::max(largest, std::fabs(static_cast<double>(number)));
  return largest;
}

// A zero point of the second factor: one number, or one for each column.
Made ColumnZeroPoint(OpView& op, size_t i) {
  if (!op.Has(i)) return kNoValue;
  HEARTH_ASSIGN(const ValueId list, op.In(i));
  if (op.to().shape(list).rank() > 1) return Error(StatusCode::kUnsupported, "zero points of a batch");
  return list;
}
Made RowZeroPoint(OpView& op, size_t i) {
  if (!op.Has(i)) return kNoValue;
  HEARTH_ASSIGN(const ValueId list, op.In(i));
  if (op.to().shape(list).element_count() != 1) return Error(StatusCode::kUnsupported, "zero points of rows");
  return op.to().AddReshape(list, Shape());
}

// A product of integers that float32 holds, as int32.
Made ExactProduct(NodeWriter& to, ValueId a, ValueId b) {
  const Shape left = to.shape(a), right = to.shape(b);
  if (left.rank() < 2 || right.rank() < 2) return Error(StatusCode::kUnsupported, "a product of vectors");
  const int32_t depth = left[left.rank() - 1];
  const auto part = static_cast<int32_t>((kExactBelow - 1) / (LargestOf(to, a) * LargestOf(to, b)));
  HEARTH_TRY(to.budget().ChargeOperators(4 * (int64_t{depth} / part + 1)));
  Made sum(kNoValue);
  for (int32_t first = 0; first < depth; first += part) {
    const int32_t count = std::min(part, depth - first);
    HEARTH_ASSIGN(const ValueId columns, to.AddSlice(a, left.rank() - 1, first, count));
    HEARTH_ASSIGN(const ValueId rows, to.AddSlice(b, right.rank() - 2, first, count));
    const Made product = to.AddCast(AddProduct(to, columns, rows, kNoValue), DType::kInt32);
    sum = first == 0 ? product : to.Add(BinaryKind::kAdd, {sum, product});
    HEARTH_TRY(sum.status());
  }
  return sum;
}
Made ExactProduct(OpView& op, const Factors& at) {
  HEARTH_TRY(CheckEightBits(op, at));
  const auto factor = [&](size_t i, std::string_view turns) {
    return op.Int(turns, 0) != 0 ? AddPermuted(op.to(), op.In(i), {1, 0}) : op.In(i);
  };
  HEARTH_ASSIGN(const ValueId a, Centered(op.to(), factor(at.a, "transA"), RowZeroPoint(op, at.a_zero)));
  HEARTH_ASSIGN(const ValueId b, Centered(op.to(), factor(at.b, "transB"), ColumnZeroPoint(op, at.b_zero)));
  return ExactProduct(op.to(), a, b);
}

// A convolution of integers, as int32, channels last.
Made ExactConvolution(OpView& op, const Factors& at) {
  NodeWriter& to = op.to();
  HEARTH_TRY(CheckEightBits(op, at));
  HEARTH_ASSIGN(const ValueId x, Centered(to, op.Last(at.a), RowZeroPoint(op, at.a_zero)));
  HEARTH_ASSIGN(const ValueId filter, op.In(at.b));
  const Shape taps = to.shape(filter);
  if (taps.rank() < 3 || taps.rank() > 4)
    return Error(StatusCode::kUnsupported, "a filter of shape {}", taps.ToString());
  HEARTH_ASSIGN(const ValueId listed, ColumnZeroPoint(op, at.b_zero));
  HEARTH_ASSIGN(const ValueId zero, listed == kNoValue ? Made(listed) : AlongAxis(to, listed, 0, taps.rank()));
  HEARTH_ASSIGN(const ValueId weights, Centered(to, filter, zero));
  HEARTH_ASSIGN(const Windowing w, WindowingOf(op, {taps.dims().begin() + 2, taps.dims().end()}, to.shape(x)));
  const int64_t groups = op.Int("group", 1);
  const double per_channel = LargestOf(to, weights) * 255.0 * static_cast<double>(CountBetween(taps, 2, taps.rank()));
  const auto part = static_cast<int32_t>(std::max(1.0, std::floor((kExactBelow - 1) / per_channel)));
  if (per_channel >= kExactBelow) return Error(StatusCode::kUnsupported, "a window whose sums exceed 2^24");
  if (part >= taps[1]) return to.AddCast(AddConvolution(to, w, x, weights, kNoValue, groups), DType::kInt32);
  if (groups != 1) return Error(StatusCode::kUnsupported, "groups whose sums exceed 2^24");
  HEARTH_TRY(to.budget().ChargeOperators(4 * (int64_t{taps[1]} / part + 1)));
  Made sum(kNoValue);
  for (int32_t first = 0; first < taps[1]; first += part) {
    const int32_t count = std::min(part, taps[1] - first);
    const Made channels = to.AddSlice(x, to.shape(x).rank() - 1, first, count);
    const Made some = AddConvolution(to, w, channels, to.AddSlice(weights, 1, first, count), kNoValue, 1);
    const Made product = to.AddCast(some, DType::kInt32);
    sum = first == 0 ? product : to.Add(BinaryKind::kAdd, {sum, product});
    HEARTH_TRY(sum.status());
  }
  return sum;
}

// Scales or zero points, operand `i`, ready to be broadcast to x: one number, one for each element of the axis, or one
// for each block along it. kNoValue for absent ones.
Made ScalesFor(OpView& op, size_t i, Order order, const Shape& x) {
  NodeWriter& to = op.to();
  if (!op.Has(i)) return kNoValue;
  HEARTH_ASSIGN(const ValueId list, op.In(i));
  const int rank = x.rank();
  const int64_t block = op.Int("block_size", 0), given = op.Int("axis", 1);
  const bool has_axis = given >= -rank && given < rank;  // otherwise there is one scale
  const int axis = has_axis ? AxisIn(order, static_cast<int>(given < 0 ? given + rank : given), rank) : -1;
  if (block == 0) return AlongAxis(to, list, axis, rank);
  const Shape shape = to.shape(list);
  if (!has_axis || shape.rank() != rank || block < 1 || block > kExactBelow || rank >= Shape::kMaxRank ||
      shape[axis] != (x[axis] + block - 1) / block) {
    return Error(StatusCode::kMalformedInput, "scales or zero points of shape {} for blocks of {} in {}",
                 shape.ToString(), block, x.ToString());
  }
  const auto size = static_cast<int32_t>(block);
  const Made apart = to.AddReshape(list, WithDimension(shape, axis + 1, 1));
  Shape whole = shape;
  whole[axis] = shape[axis] * size;
  return to.AddSlice(to.AddReshape(to.Add(BroadcastTo{WithDimension(shape, axis + 1, size)}, {apart}), whole), axis, 0,
                     x[axis]);
}

// The order in which a tensor and its scales go together.
Order OrderWithScales(const OpView& op) {
  return op.Int("block_size", 0) != 0 ? Order::kPlain : op.OrderOf(0);
}

Results ReadQuantizeLinear(OpView& op) {
  const Order order = OrderWithScales(op);
  HEARTH_ASSIGN(const ValueId x, op.In(0, order));
  const Shape shape = op.to().shape(x);
  const auto type = static_cast<int32_t>(op.Int("output_dtype", kUint8));
  std::optional<DType> dtype = type == kUndefined ? DType::kUInt8 : InterfaceTypeOf(type);
  if (op.Has(2)) {
    HEARTH_ASSIGN(const ValueId zero_point, op.In(2));
    if (op.scope().reading().narrow_integers.contains(zero_point)) return UnknownType(kInt4);
    dtype = op.to().desc(zero_point).dtype;
  }
  if (!dtype) return UnknownType(type);
  return InOrder(order, Quantized(op.to(), x, ScalesFor(op, 1, order, shape), ScalesFor(op, 2, order, shape), *dtype));
}

Results ReadDequantizeLinear(OpView& op) {
  NodeWriter& to = op.to();
  const Order order = OrderWithScales(op);
  HEARTH_ASSIGN(const ValueId x, op.In(0, order));
  const Made centered = Centered(to, x, ScalesFor(op, 2, order, to.shape(x)));
  const Made scale = to.AddCast(ScalesFor(op, 1, order, to.shape(x)), DType::kFloat32);
  return InOrder(order, to.Add(BinaryKind::kMul, {centered, scale}));
}

// A tensor as 8-bit integers of one scale and zero point, which its least and largest element give.
struct DynamicallyQuantized {
  ValueId values = kNoValue, scale = kNoValue, zero_point = kNoValue;
};
Result<DynamicallyQuantized> QuantizedDynamically(NodeWriter& to, ValueId x) {
  const uint32_t all = (1u << to.shape(x).rank()) - 1;
  const Made zero = AddScalarLike(to, x, 0.0);
  const auto extreme = [&](ReduceKind kind, BinaryKind with) {
    return to.Add(with, {to.Add(Reduce{.kind = kind, .axes_mask = all, .keep_dims = false}, {x}), zero});
  };
  const Made most = extreme(ReduceKind::kMax, BinaryKind::kMaximum),
             least = extreme(ReduceKind::kMin, BinaryKind::kMinimum);
  const Made range = to.Add(BinaryKind::kSub, {most, least});
  const Made is_zero = to.Add(BinaryKind::kEqual, {range, zero});
  DynamicallyQuantized made;
  HEARTH_ASSIGN(made.scale, to.Add(Select{}, {is_zero, AddScalarLike(to, x, 1.0),
                                              to.Add(BinaryKind::kDiv, {range, AddScalarLike(to, x, 255.0)})}));
  HEARTH_ASSIGN(made.zero_point, Quantized(to, to.Add(UnaryKind::kNeg, least), made.scale, kNoValue, DType::kUInt8));
  HEARTH_ASSIGN(made.values, Quantized(to, x, made.scale, made.zero_point, DType::kUInt8));
  return made;
}

Results ReadDynamicQuantizeLinear(OpView& op) {
  const Order order = op.OrderOf(0);
  HEARTH_ASSIGN(const ValueId x, op.In(0, order));
  HEARTH_ASSIGN(const DynamicallyQuantized made, QuantizedDynamically(op.to(), x));
  return std::vector{TensorIn(order, made.values), Tensor{.plain = made.scale}, Tensor{.plain = made.zero_point}};
}

Results ReadMatMulInteger(OpView& op) {
  return Plain(ExactProduct(op, kPlainFactors));
}

Results ReadConvInteger(OpView& op) {
  return Last(ExactConvolution(op, kPlainFactors));
}

// The real numbers of operand `i`, whose scale and zero point are the next two.
Made RealOperand(OpView& op, size_t i, const Made& value) {
  return op.to().Add(BinaryKind::kMul, {Centered(op.to(), value, RowZeroPoint(op, i + 2)), RowZeroPoint(op, i + 1)});
}
// 8-bit integers of the scale in operand `i` and the zero point behind it, or of the type of operand `like`.
Made AsIntegers(OpView& op, const Made& real, size_t i, size_t like) {
  HEARTH_ASSIGN(const TensorDesc desc, op.Desc(op.Has(i + 1) ? i + 1 : like));
  return Quantized(op.to(), real, RowZeroPoint(op, i), RowZeroPoint(op, i + 1), desc.dtype);
}

Results ReadQLinearBinary(OpView& op) {
  HEARTH_ASSIGN(const TensorDesc a, op.Desc(0));
  HEARTH_ASSIGN(const TensorDesc b, op.Desc(3));
  const int rank = std::max(a.shape.rank(), b.shape.rank());
  const bool is_last = (a.shape.rank() == rank && op.OrderOf(0) == Order::kLast) ||
                       (b.shape.rank() == rank && op.OrderOf(3) == Order::kLast);
  const Order order = is_last ? Order::kLast : Order::kPlain;
  const Made made = op.to().Add(
      static_cast<BinaryKind>(op.kind()),
      {RealOperand(op, 0, op.Broadcastable(0, rank, order)), RealOperand(op, 3, op.Broadcastable(3, rank, order))});
  return InOrder(order, AsIntegers(op, made, 6, 0));
}

// The operator of the same name on real numbers, between integers: (x, its scale, its zero point, those of the result).
Results ReadQLinear(OpView& op) {
  if (op.Int("channels_last", 0) != 0) return Error(StatusCode::kUnsupported, "channels_last");
  const Order order = op.OrderOf(0);
  HEARTH_ASSIGN(const ValueId real, RealOperand(op, 0, op.In(0, order)));
  Scope inner(op.scope().reading(), op.to(), op.scope().sets(), nullptr, op.scope().attributes());
  inner.Bind("x", TensorIn(order, real));
  NodeProto node = op.node();
  node.inputs = {"x"};
  // The axis of QLinearSoftmax is the last one where none is given, in each version.
  if (op.Find("axis") == nullptr) node.attributes.push_back({.name = "axis", .i = -1});
  const OperatorRow* row = FindOperator("", node.op_type.substr(std::string_view("QLinear").size()));
  OpView view(inner, node, row, op.Int("opset", OpsetOf(op.scope().sets(), "")));
  HEARTH_ASSIGN(const std::vector<Tensor> made, row->read(view));
  HEARTH_TRY(view.misread());
  const bool is_last = made[0].plain == kNoValue;
  return InOrder(is_last ? Order::kLast : Order::kPlain, AsIntegers(op, is_last ? made[0].last : made[0].plain, 3, 0));
}

// (scale, zero point, then each part with its own)
Results ReadQLinearConcat(OpView& op) {
  HEARTH_ASSIGN(const TensorDesc desc, op.Desc(2));
  HEARTH_ASSIGN(const int axis, op.AxisOf("axis", 0, desc.shape.rank()));
  const Order order = op.OrderOf(2);
  Operands parts;
  for (size_t i = 2; i < op.input_count(); i += 3) parts.Append(RealOperand(op, i, op.In(i, order)));
  return InOrder(order,
                 AsIntegers(op, op.to().Add(Concat{.axis = AxisIn(order, axis, desc.shape.rank())}, parts), 0, 2));
}

// Sums of products as the result's 8-bit integers of the scale in operand `i` and the zero point behind it.
Made Rescaled(OpView& op, const Made& sums, size_t i) {
  NodeWriter& to = op.to();
  Made scale = to.Add(BinaryKind::kMul, {RowZeroPoint(op, 1), ColumnZeroPoint(op, 4)});
  if (const double alpha = op.Float("alpha", 1.0); alpha != 1.0)
    scale = to.Add(BinaryKind::kMul, {scale, to.AddNumber(DType::kFloat32, alpha)});
  if (op.Has(i)) scale = to.Add(BinaryKind::kDiv, {scale, RowZeroPoint(op, i)});
  const Made real = to.Add(BinaryKind::kMul, {to.AddCast(sums, DType::kFloat32), scale});
  if (!op.Has(i)) return real;
  HEARTH_ASSIGN(const TensorDesc zero_point, op.Desc(i + 1));
  return Quantized(to, real, to.AddConstant(Shape(), DType::kFloat32, {1.0}), RowZeroPoint(op, i + 1),
                   zero_point.dtype);
}

Results ReadQLinearMatMul(OpView& op) {
  return Plain(Rescaled(op, ExactProduct(op, kScaledFactors), 6));
}

// `added`: the operand that is added to the sums, which may be absent.
Made WithBias(OpView& op, const Made& sums, size_t added) {
  return op.Has(added) ? op.to().Add(BinaryKind::kAdd, {sums, op.In(added)}) : sums;
}

Results ReadQLinearConv(OpView& op) {
  return Last(Rescaled(op, WithBias(op, ExactConvolution(op, kScaledFactors), 8), 6));
}

// Real numbers without a scale of the result.
Results ReadQGemm(OpView& op) {
  return Plain(Rescaled(op, WithBias(op, ExactProduct(op, kScaledFactors), 6), 7));
}

}  // namespace

Result<IntegerMatrix> AddIntegerMatrix(NodeWriter& to, const Made& values, const Made& zero_point, const Made& scale) {
  IntegerMatrix matrix;
  HEARTH_ASSIGN(matrix.centered, Centered(to, values, zero_point));
  HEARTH_ASSIGN(matrix.scale, scale);
  return matrix;
}

Made AddDynamicProduct(NodeWriter& to, ValueId x, const IntegerMatrix& matrix) {
  HEARTH_ASSIGN(const DynamicallyQuantized rows, QuantizedDynamically(to, x));
  HEARTH_ASSIGN(const ValueId centered, Centered(to, rows.values, rows.zero_point));
  return to.Add(BinaryKind::kMul, {to.AddCast(ExactProduct(to, centered, matrix.centered), DType::kFloat32),
                                   to.Add(BinaryKind::kMul, {matrix.scale, rows.scale})});
}

std::span<const OperatorRow> QuantizedOperators() {
  static constexpr OperatorRow kRows[] = {
      {"ConvInteger", ReadConvInteger},
      {"DequantizeLinear", ReadDequantizeLinear},
      {"DynamicQuantizeLinear", ReadDynamicQuantizeLinear},
      {"MatMulInteger", ReadMatMulInteger},
      {"QLinearConv", ReadQLinearConv},
      {"QLinearMatMul", ReadQLinearMatMul},
      {"QuantizeLinear", ReadQuantizeLinear},
      {"DequantizeLinear", ReadDequantizeLinear, 0, kMicrosoft},
      {"QGemm", ReadQGemm, 0, kMicrosoft},
      {"QLinearAdd", ReadQLinearBinary, Kind(BinaryKind::kAdd), kMicrosoft},
      {"QLinearAveragePool", ReadQLinear, 0, kMicrosoft},
      {"QLinearConcat", ReadQLinearConcat, 0, kMicrosoft},
      {"QLinearGlobalAveragePool", ReadQLinear, 0, kMicrosoft},
      {"QLinearLeakyRelu", ReadQLinear, 0, kMicrosoft},
      {"QLinearMul", ReadQLinearBinary, Kind(BinaryKind::kMul), kMicrosoft},
      {"QLinearSigmoid", ReadQLinear, 0, kMicrosoft},
      {"QLinearSoftmax", ReadQLinear, 0, kMicrosoft},
      {"QuantizeLinear", ReadQuantizeLinear, 0, kMicrosoft},
  };
  return kRows;
}

}  // namespace hearth::onnx
