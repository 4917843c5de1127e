// Quantized operators, composed of plain integers and float32.
#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/graph/evaluate.h"
#include "frontends/onnx/integer_products.h"
#include "frontends/onnx/operators.h"
#include "frontends/writer/rows.h"

namespace hearth::onnx {
namespace {

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
Made ScalesFor(OpView& op, NodeWriter& to, size_t i, Order order, const Shape& x) {
  if (!op.Has(i)) return kNoValue;
  HEARTH_ASSIGN(const ValueId list, op.In(i));
  const int rank = x.rank();
  const int64_t block = op.Int("block_size", 0), given = op.Int("axis", 1);
  const bool has_axis = given >= -rank && given < rank;  // otherwise there is one scale
  const int axis = has_axis ? AxisIn(order, static_cast<int>(given < 0 ? given + rank : given), rank) : -1;
  if (block == 0) return AlongAxis(to, list, axis, rank);
  if (!has_axis) return Error(StatusCode::kMalformedInput, "blocks along axis {} of {}", given, x.ToString());
  return AlongBlocks(to, list, axis, block, x);
}

// The order in which a tensor and its scales go together.
Order OrderWithScales(const OpView& op) {
  return op.Int("block_size", 0) != 0 ? Order::kPlain : op.OrderOf(0);
}

Results ReadQuantizeLinear(OpView& op, GraphWriter& to) {
  const Order order = OrderWithScales(op);
  HEARTH_ASSIGN(const ValueId x, op.In(0, order));
  const Shape shape = to.shape(x);
  const auto type = static_cast<int32_t>(op.Int("output_dtype", kUint8));
  std::optional<DType> dtype = type == kUndefined ? DType::kUInt8 : InterfaceTypeOf(type);
  if (op.Has(2)) {
    HEARTH_ASSIGN(const ValueId zero_point, op.In(2));
    if (to.marks().narrow_integers.contains(zero_point)) return UnknownType(kInt4);
    dtype = to.desc(zero_point).dtype;
  }
  if (!dtype) return UnknownType(type);
  return InOrder(order,
                 Quantized(to, x, ScalesFor(op, to, 1, order, shape), ScalesFor(op, to, 2, order, shape), *dtype));
}

// The real numbers of operand `i`, a constant of 8 bits, kept in 8 bits; `scale` and `zero_point` are the operands of
// its grid. kNoValue if something is computed or has another form.
Made ConstantOnGrid(OpView& op, NodeWriter& to, size_t i, size_t scale, size_t zero_point, int64_t axis) {
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
  return OnGrid(to, integers, std::move(grid));
}

Results ReadDequantizeLinear(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const ValueId on_grid, ConstantOnGrid(op, to, 0, 1, 2, op.Int("axis", 1)));
  if (on_grid != kNoValue) return std::vector{Tensor{.stored = on_grid}};
  HEARTH_ASSIGN(const Tensor blocked, BlockedWeights(op, to));
  if (blocked.is_made()) return std::vector{blocked};
  const Order order = OrderWithScales(op);
  HEARTH_ASSIGN(const ValueId x, op.In(0, order));
  const Made scale = to.AddCast(ScalesFor(op, to, 1, order, to.shape(x)), DType::kFloat32);
  return InOrder(order, RealOf(to, x, ScalesFor(op, to, 2, order, to.shape(x)), scale));
}

// float32 numbers in steps of their range, as uint8.
struct CountedTensor {
  ValueId steps, step, zero;
};
Result<CountedTensor> Counted(NodeWriter& to, const Made& numbers) {
  HEARTH_ASSIGN(const ValueId x, to.AddCast(numbers, DType::kFloat32));
  CountedTensor counted;
  if (to.IsEmpty(x)) {
    HEARTH_ASSIGN(counted.steps, to.AddCast(x, DType::kUInt8));
    HEARTH_ASSIGN(counted.step, to.AddConstant(Shape(), DType::kFloat32, {1.0}));
    HEARTH_ASSIGN(counted.zero, to.AddConstant(Shape(), DType::kUInt8, {0.0}));
    return counted;
  }
  const OpenDimension open = to.marks().OpenOf(x);
  const size_t first_node = to.graph().nodes().size();
  HEARTH_ASSIGN(const std::vector<ValueId> made,
                to.AddSeveral(DynamicQuantize{}, {MaskRows(to, x, ReduceKind::kSum)},  // zeros are in the range anyway
                              {PlainType(DType::kUInt8), PlainType(DType::kFloat32), PlainType(DType::kUInt8)}));
  if (open.count != kNoValue) {
    CloseRows(to, first_node);
    HEARTH_TRY(AddRows(to, made[0], open.count, open.dim).status());
  }
  return CountedTensor{made[0], made[1], made[2]};
}

Results ReadDynamicQuantizeLinear(OpView& op, GraphWriter& to) {
  const Order order = op.OrderOf(0);
  HEARTH_ASSIGN(const CountedTensor counted, Counted(to, op.In(0, order)));
  return std::vector{TensorIn(order, counted.steps), Tensor{.plain = counted.step}, Tensor{.plain = counted.zero}};
}

Results ReadMatMulInteger(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const ValueId x, op.In(0));
  HEARTH_ASSIGN(const ValueId zero, RowZeroPoint(op, 2));
  return Plain(ExactProduct(op, to, x, zero, 1, 3));
}

// `sums` as real numbers in units of `step` times the scales of the weights, operand `scales`; plus operand `bias`.
Results Scaled(OpView& op, NodeWriter& to, const Made& sums, ValueId step, size_t scales, size_t bias) {
  HEARTH_ASSIGN(const ValueId of_weights, op.In(scales));
  if (to.shape(of_weights).rank() > 1) return Error(StatusCode::kUnsupported, "scales of a batch");
  const Made unit = to.Add(BinaryKind::kMul, {step, of_weights});
  const Made real = to.Add(BinaryKind::kMul, {to.AddCast(sums, DType::kFloat32), unit});
  return Plain(op.Has(bias) ? to.Add(BinaryKind::kAdd, {real, op.In(bias)}) : real);
}

// (x, weights, their scales, the zero points of both, bias)
Results ReadMatMulIntegerToFloat(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const ValueId x, op.In(0));
  HEARTH_ASSIGN(const ValueId zero, RowZeroPoint(op, 4));
  HEARTH_ASSIGN(const ValueId step, RowZeroPoint(op, 2));
  return Scaled(op, to, ExactProduct(op, to, x, zero, 1, 5), step, 3, 6);
}

// (real x, weights, their scales and zero points, bias)
Results ReadDynamicQuantizeMatMul(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const CountedTensor x, Counted(to, op.In(0)));
  return Scaled(op, to, ExactProduct(op, to, x.steps, x.zero, 1, 3), x.step, 2, 4);
}

Results ReadConvInteger(OpView& op, GraphWriter& to) {
  return Last(ExactConvolution(op, to));
}

// The real numbers of operand `i`, whose scale and zero point are the next two.
Made RealOperand(OpView& op, size_t i, const Made& value) {
  return RealOf(op.to(), value, RowZeroPoint(op, i + 2), RowZeroPoint(op, i + 1));
}
// 8-bit integers of the scale in operand `i` and the zero point behind it, or of the type of operand `like`.
Made AsIntegers(OpView& op, const Made& real, size_t i, size_t like) {
  HEARTH_ASSIGN(const TensorDesc desc, op.Desc(op.Has(i + 1) ? i + 1 : like));
  return Quantized(op.to(), real, RowZeroPoint(op, i), RowZeroPoint(op, i + 1), desc.dtype);
}

// (condition, then two operands with their scales and zero points, those of the result)
Results ReadQLinearWhere(OpView& op, GraphWriter& to) {
  int rank = 0;
  for (const size_t i : {size_t{0}, size_t{1}, size_t{4}}) {
    HEARTH_ASSIGN(const TensorDesc desc, op.Desc(i));
    rank = std::max(rank, desc.shape.rank());
  }
  const auto real = [&](size_t i) { return RealOperand(op, i, op.Broadcastable(i, rank, Order::kPlain)); };
  const Made chosen = to.Add(Select{}, {op.Broadcastable(0, rank, Order::kPlain), real(1), real(4)});
  return Plain(AsIntegers(op, chosen, 7, 1));
}

Results ReadQLinearBinary(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const TensorDesc a, op.Desc(0));
  HEARTH_ASSIGN(const TensorDesc b, op.Desc(3));
  const int rank = std::max(a.shape.rank(), b.shape.rank());
  const bool is_last = (a.shape.rank() == rank && op.OrderOf(0) == Order::kLast) ||
                       (b.shape.rank() == rank && op.OrderOf(3) == Order::kLast);
  const Order order = is_last ? Order::kLast : Order::kPlain;
  const Made made = to.Add(static_cast<BinaryKind>(op.kind()), {RealOperand(op, 0, op.Broadcastable(0, rank, order)),
                                                                RealOperand(op, 3, op.Broadcastable(3, rank, order))});
  return InOrder(order, AsIntegers(op, made, 6, 0));
}

// The operator `name` on real numbers, between integers: `node` reads `operands`. The scale of the result is operand
// `scale`, and its zero point the next; without one it is real.
Results ReadOnReals(OpView& op, std::string_view name, const std::vector<Tensor>& operands, NodeProto node,
                    int64_t opset, size_t scale) {
  static constexpr std::string_view kNames[] = {"x", "w", "b"};
  Scope inner(op.scope().reading(), op.to(), op.scope().sets(), nullptr, op.scope().attributes());
  node.inputs.assign(kNames, kNames + operands.size());
  for (size_t k = 0; k < operands.size(); ++k) inner.Bind(kNames[k], operands[k]);
  OpView view(inner, node, FindOperator("", name), opset);
  HEARTH_ASSIGN(const std::vector<Tensor> made, view.Read());
  HEARTH_TRY(view.misread());
  const ValueId real = made[0].value();
  return InOrder(made[0].order(), op.Has(scale) ? AsIntegers(op, real, scale, 0) : Made(real));
}

// Whether a picture has its channels last in the file, too, as onnxruntime saves networks that it optimized.
bool HasChannelsLast(const OpView& op) {
  return op.Int("channels_last", 0) != 0;
}
// Operand 0 in this order, which is the file's own if that has channels last; and what is made of it, as in the file.
Made PictureOf(const OpView& op, Order order) {
  return op.In(0, HasChannelsLast(op) ? Order::kPlain : order);
}
Results WithChannelsLast(NodeWriter& to, const Results& made) {
  if (!made.ok()) return made;
  const Tensor& tensor = made->front();
  return Plain(ToOrder(to, tensor.value(), tensor.order(), Order::kLast));
}
Results InFile(const OpView& op, const Results& made) {
  return HasChannelsLast(op) ? WithChannelsLast(op.to(), made) : made;
}

Results ReadNhwcMaxPool(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const ValueId x, op.In(0));
  const int64_t opset = OpsetOf(op.scope().sets(), "");
  return WithChannelsLast(to, ReadOnReals(op, "MaxPool", {{.last = x}}, op.node(), opset, op.input_count()));
}

// (x, its scale, its zero point, those of the result)
Results ReadQLinear(OpView& op, GraphWriter&) {
  const Order order = HasChannelsLast(op) ? Order::kLast : op.OrderOf(0);
  HEARTH_ASSIGN(const ValueId real, RealOperand(op, 0, PictureOf(op, order)));
  NodeProto node = op.node();
  // The axis of QLinearSoftmax is the last one where none is given, in each version.
  if (op.Find("axis") == nullptr) node.attributes.push_back({.name = "axis", .i = -1});
  return InFile(op, ReadOnReals(op, node.op_type.substr(std::string_view("QLinear").size()), {TensorIn(order, real)},
                                node, op.Int("opset", OpsetOf(op.scope().sets(), "")), 3));
}

// (scale, zero point, then each part with its own)
Results ReadQLinearConcat(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const TensorDesc desc, op.Desc(2));
  HEARTH_ASSIGN(const int axis, op.AxisOf("axis", 0, desc.shape.rank()));
  const Order order = op.OrderOf(2);
  Operands parts;
  for (size_t i = 2; i < op.input_count(); i += 3) parts.Append(RealOperand(op, i, op.In(i, order)));
  return InOrder(order, AsIntegers(op, to.Add(Concat{.axis = AxisIn(order, axis, desc.shape.rank())}, parts), 0, 2));
}

// A layer's weights, operand 3, whose scale and zero point are the next two.
Result<Tensor> RealWeights(OpView& op, NodeWriter& to, int64_t axis) {
  HEARTH_ASSIGN(const ValueId on_grid, ConstantOnGrid(op, to, 3, 4, 5, axis));
  if (on_grid != kNoValue) return Tensor{.stored = on_grid};
  HEARTH_ASSIGN(const ValueId integers, op.In(3));
  const int rank = to.shape(integers).rank();
  const auto along = [&](size_t i) -> Made {
    HEARTH_ASSIGN(const ValueId list, op.Optional(i));
    return list == kNoValue ? Made(list) : AlongAxis(to, list, static_cast<int>(axis < 0 ? axis + rank : axis), rank);
  };
  HEARTH_ASSIGN(const ValueId real, RealOf(to, integers, along(5), along(4)));
  return Tensor{.plain = real};
}

enum class QLinearLayer : uint8_t { kConv, kMatMul, kGemm };

// (x, its scale and zero point, weights, theirs, those of the result, bias), of QGemm the bias before the result's.
Results ReadQLinearLayer(OpView& op, GraphWriter& to) {
  static constexpr std::string_view kNames[] = {"Conv", "MatMul", "Gemm"};
  const auto layer = static_cast<QLinearLayer>(op.kind());
  const size_t bias = layer == QLinearLayer::kGemm ? 6 : 8, scale = layer == QLinearLayer::kGemm ? 7 : 6;
  const bool has_rows = layer == QLinearLayer::kConv || op.Int("transB", 0) != 0;
  const Order order = layer == QLinearLayer::kConv ? Order::kLast : Order::kPlain;
  HEARTH_ASSIGN(const ValueId x, RealOperand(op, 0, PictureOf(op, order)));
  HEARTH_ASSIGN(const Tensor weights, RealWeights(op, to, has_rows ? 0 : -1));
  std::vector<Tensor> operands{TensorIn(order, x), weights};
  if (op.Has(bias)) {
    const Made alpha = to.AddNumber(DType::kFloat32, op.Float("alpha", 1.0));
    const Made unit = to.Add(BinaryKind::kMul, {to.Add(BinaryKind::kMul, {RowZeroPoint(op, 1), op.In(4)}), alpha});
    HEARTH_ASSIGN(const ValueId real, to.Add(BinaryKind::kMul, {to.AddCast(op.In(bias), DType::kFloat32), unit}));
    operands.push_back({.plain = real});
  }
  return InFile(op, ReadOnReals(op, kNames[op.kind()], operands, op.node(), OpsetOf(op.scope().sets(), ""), scale));
}

}  // namespace

constexpr OperatorRow kQuantizedRows[] = {
    {"ConvInteger", ReadConvInteger},
    {"DequantizeLinear", ReadDequantizeLinear},
    {"DynamicQuantizeLinear", ReadDynamicQuantizeLinear},
    {"MatMulInteger", ReadMatMulInteger},
    {"QLinearConv", ReadQLinearLayer, Kind(QLinearLayer::kConv)},
    {"QLinearMatMul", ReadQLinearLayer, Kind(QLinearLayer::kMatMul)},
    {"QuantizeLinear", ReadQuantizeLinear},
    {"DequantizeLinear", ReadDequantizeLinear, 0, kMicrosoft},
    {"DynamicQuantizeMatMul", ReadDynamicQuantizeMatMul, 0, kMicrosoft},
    {"MatMulIntegerToFloat", ReadMatMulIntegerToFloat, 0, kMicrosoft},
    {"NhwcMaxPool", ReadNhwcMaxPool, 0, kMicrosoft},
    {"QGemm", ReadQLinearLayer, Kind(QLinearLayer::kGemm), kMicrosoft},
    {"QLinearAdd", ReadQLinearBinary, Kind(BinaryKind::kAdd), kMicrosoft},
    {"QLinearAveragePool", ReadQLinear, 0, kMicrosoft},
    {"QLinearConcat", ReadQLinearConcat, 0, kMicrosoft},
    {"QLinearConv", ReadQLinearLayer, Kind(QLinearLayer::kConv), kMicrosoft},
    {"QLinearGlobalAveragePool", ReadQLinear, 0, kMicrosoft},
    {"QLinearLeakyRelu", ReadQLinear, 0, kMicrosoft},
    {"QLinearMul", ReadQLinearBinary, Kind(BinaryKind::kMul), kMicrosoft},
    {"QLinearSigmoid", ReadQLinear, 0, kMicrosoft},
    {"QLinearSoftmax", ReadQLinear, 0, kMicrosoft},
    {"QLinearWhere", ReadQLinearWhere, 0, kMicrosoft},
    {"QuantizeLinear", ReadQuantizeLinear, 0, kMicrosoft},
};
const OperatorList kQuantizedOperators = kQuantizedRows;

}  // namespace hearth::onnx
