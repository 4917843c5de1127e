// Quantized operators, composed of plain integers and float32.
#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/graph/evaluate.h"
#include "frontends/onnx/integer_products.h"
#include "frontends/onnx/operators.h"
#include "frontends/onnx/product.h"
#include "frontends/onnx/windows.h"

namespace hearth::onnx {
namespace {

constexpr int64_t kMostBlock = 1 << 24;

Result<std::pair<double, double>> RangeOf(DType dtype) {
  switch (dtype) {
    case DType::kUInt8: return std::pair(0.0, 255.0);
    case DType::kInt8: return std::pair(-128.0, 127.0);
    case DType::kUInt16: return std::pair(0.0, 65535.0);
    case DType::kInt16: return std::pair(-32768.0, 32767.0);
    default: return Error(StatusCode::kUnsupported, "quantized elements of {}", DTypeName(dtype));
  }
}

// saturate(round(x / scale) + zero point), as plain integers. Without a zero point: kNoValue.
Made Quantized(NodeWriter& to, const Made& x, const Made& scale, const Made& zero_point, DType dtype) {
  HEARTH_ASSIGN(const ValueId real, to.AddCast(x, DType::kFloat32));
  HEARTH_ASSIGN(const auto range, RangeOf(dtype));
  HEARTH_TRY(zero_point.status());
  const Made zero = *zero_point == kNoValue ? Made(kNoValue) : to.AddCast(zero_point, DType::kFloat32);
  const auto less_zero = [&](double bound) {
    const Made number = AddScalarLike(to, real, bound);
    return *zero_point == kNoValue ? number : to.Add(BinaryKind::kSub, {number, zero});
  };
  const Made steps = to.Add(UnaryKind::kRound, to.Add(BinaryKind::kDiv, {real, to.AddCast(scale, DType::kFloat32)}));
  HEARTH_ASSIGN(const ValueId centered,
                to.Add(BinaryKind::kMinimum,
                       {to.Add(BinaryKind::kMaximum, {steps, less_zero(range.first)}), less_zero(range.second)}));
  return Integers(to, centered, *zero_point, dtype);
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
  if (!has_axis || shape.rank() != rank || block < 1 || block > kMostBlock || rank >= Shape::kMaxRank ||
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
    if (op.to().marks().narrow_integers.contains(zero_point)) return UnknownType(kInt4);
    dtype = op.to().desc(zero_point).dtype;
  }
  if (!dtype) return UnknownType(type);
  return InOrder(order, Quantized(op.to(), x, ScalesFor(op, 1, order, shape), ScalesFor(op, 2, order, shape), *dtype));
}

// The real numbers of operand `i`, a constant of 8 bits, kept in 8 bits; `scale` and `zero_point` are the operands of
// its grid. kNoValue if something is computed or has another form.
Made ConstantOnGrid(OpView& op, size_t i, size_t scale, size_t zero_point, int64_t axis) {
  NodeWriter& to = op.to();
  if (!op.IsConstant(i) || !op.IsConstant(scale) || (op.Has(zero_point) && !op.IsConstant(zero_point)) ||
      op.Int("block_size", 0) != 0)
    return kNoValue;
  HEARTH_ASSIGN(const ValueId integers, op.In(i));
  const TensorDesc& desc = to.desc(integers);
  const int64_t rank = desc.shape.rank();
  const bool is_of_8_bits = (desc.dtype == DType::kInt8 || desc.dtype == DType::kUInt8) && !desc.quantization;
  if (!is_of_8_bits || to.IsEmpty(integers) || axis < -rank || axis >= rank) return kNoValue;
  HEARTH_ASSIGN(std::vector<float> scales, op.Floats(scale));
  HEARTH_ASSIGN(const std::vector<float> zeros, op.Floats(zero_point));
  const size_t count = scales.size();
  Quantization grid{
      std::move(scales), {zeros.begin(), zeros.end()}, static_cast<int32_t>(axis < 0 ? axis + rank : axis), nullptr};
  if (zeros.size() < 2) grid.zero_points.assign(count, zeros.empty() ? 0 : grid.zero_points[0]);
  const bool are_normal =
      std::ranges::all_of(grid.scales, [](float number) { return number > 0 && std::isnormal(number); });
  const bool is_for_each = count == static_cast<size_t>(desc.shape[grid.dimension]);
  if (!are_normal || grid.zero_points.size() != count || (count != 1 && !is_for_each)) return kNoValue;
  if (!to.budget().copies.ChargeScales({desc.dtype, desc.shape, grid}))
    return CopyBudget::Exceeded("the scales of constants");
  return OnGrid(to, integers, std::move(grid));
}

Results ReadDequantizeLinear(OpView& op) {
  NodeWriter& to = op.to();
  HEARTH_ASSIGN(const ValueId on_grid, ConstantOnGrid(op, 0, 1, 2, op.Int("axis", 1)));
  if (on_grid != kNoValue) return std::vector{Tensor{.stored = on_grid}};
  const Order order = OrderWithScales(op);
  HEARTH_ASSIGN(const ValueId x, op.In(0, order));
  const Made centered = Centered(to, x, ScalesFor(op, 2, order, to.shape(x)));
  const Made scale = to.AddCast(ScalesFor(op, 1, order, to.shape(x)), DType::kFloat32);
  return InOrder(order, to.Add(BinaryKind::kMul, {centered, scale}));
}

// A tensor as 8-bit integers of one scale and zero point, which its least and largest element give.
Results ReadDynamicQuantizeLinear(OpView& op) {
  NodeWriter& to = op.to();
  const Order order = op.OrderOf(0);
  HEARTH_ASSIGN(const ValueId x, op.In(0, order));
  const uint32_t all = (1u << to.shape(x).rank()) - 1;
  const Made zero = AddScalarLike(to, x, 0.0);
  const auto extreme = [&](ReduceKind kind, BinaryKind with) {
    return to.Add(with, {to.Add(Reduce{.kind = kind, .axes_mask = all, .keep_dims = false}, {x}), zero});
  };
  const Made most = extreme(ReduceKind::kMax, BinaryKind::kMaximum),
             least = extreme(ReduceKind::kMin, BinaryKind::kMinimum);
  const Made range = to.Add(BinaryKind::kSub, {most, least});
  const Made is_zero = to.Add(BinaryKind::kEqual, {range, zero});
  HEARTH_ASSIGN(const ValueId scale,
                to.Add(Select{}, {is_zero, AddScalarLike(to, x, 1.0),
                                  to.Add(BinaryKind::kDiv, {range, AddScalarLike(to, x, 255.0)})}));
  HEARTH_ASSIGN(const ValueId zero_point,
                Quantized(to, to.Add(UnaryKind::kNeg, least), scale, kNoValue, DType::kUInt8));
  HEARTH_ASSIGN(const ValueId values, Quantized(to, x, scale, zero_point, DType::kUInt8));
  return std::vector{TensorIn(order, values), Tensor{.plain = scale}, Tensor{.plain = zero_point}};
}

Results ReadMatMulInteger(OpView& op) {
  return Plain(ExactProduct(op, {}));
}

Results ReadConvInteger(OpView& op) {
  return Last(ExactConvolution(op, {}));
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

constexpr Factors kScaledFactors{.b = 3, .b_zero = 5};

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

// (x, its scale and zero point, weights, theirs, those of the result, bias): with constant weights and grids the layer
// of real numbers between integers, as a file with DequantizeLinear has it.
struct RealLayer {
  ValueId weights = kNoValue, bias = kNoValue;  // kNoValue, kNoValue: something is computed
};
Result<RealLayer> RealLayerOf(OpView& op, int64_t axis, size_t bias) {
  NodeWriter& to = op.to();
  const bool are_constant = op.IsConstant(1) && op.IsConstant(6) && (!op.Has(bias) || op.IsConstant(bias));
  RealLayer layer;
  if (!are_constant) return layer;
  HEARTH_ASSIGN(layer.weights, ConstantOnGrid(op, 3, 4, 5, axis));
  if (layer.weights == kNoValue || !op.Has(bias)) return layer;
  const Made units = to.Add(BinaryKind::kMul, {RowZeroPoint(op, 1), op.In(4)});
  HEARTH_ASSIGN(layer.bias, to.Add(BinaryKind::kMul, {to.AddCast(op.In(bias), DType::kFloat32), units}));
  return layer;
}

Results ReadQLinearMatMul(OpView& op) {
  HEARTH_ASSIGN(const RealLayer layer, RealLayerOf(op, -1, op.input_count()));
  if (layer.weights == kNoValue || op.to().shape(layer.weights).rank() != 2)
    return Plain(Rescaled(op, ExactProduct(op, kScaledFactors), 6));
  HEARTH_ASSIGN(const ValueId x, RealOperand(op, 0, op.In(0)));
  return Plain(AsIntegers(op, AddProduct(op.to(), x, layer.weights, kNoValue), 6, 0));
}

// `added`: the operand that is added to the sums, which may be absent.
Made WithBias(OpView& op, const Made& sums, size_t added) {
  return op.Has(added) ? op.to().Add(BinaryKind::kAdd, {sums, op.In(added)}) : sums;
}

Results ReadQLinearConv(OpView& op) {
  HEARTH_ASSIGN(const RealLayer layer, RealLayerOf(op, 0, 8));
  const Shape taps = layer.weights == kNoValue ? Shape() : op.to().shape(layer.weights);
  if (taps.rank() == 3 || taps.rank() == 4) {
    HEARTH_ASSIGN(const ValueId x, RealOperand(op, 0, op.Last(0)));
    HEARTH_ASSIGN(const Windowing w, WindowingOf(op, {taps.dims().begin() + 2, taps.dims().end()}, op.to().shape(x)));
    const Made real = AddConvolution(op.to(), w, x, layer.weights, layer.bias, op.Int("group", 1));
    return Last(AsIntegers(op, real, 6, 0));
  }
  return Last(Rescaled(op, WithBias(op, ExactConvolution(op, kScaledFactors), 8), 6));
}

// Real numbers without a scale of the result.
Results ReadQGemm(OpView& op) {
  return Plain(Rescaled(op, WithBias(op, ExactProduct(op, kScaledFactors), 6), 7));
}

}  // namespace

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
