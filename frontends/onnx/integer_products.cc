#include "frontends/onnx/integer_products.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "core/base/error.h"
#include "core/graph/evaluate.h"
#include "frontends/onnx/shared.h"
#include "frontends/onnx/windows.h"
#include "frontends/writer/expansions.h"

namespace hearth::onnx {
namespace {

constexpr int64_t kMostBlock = 1 << 24;

constexpr int64_t kMostProduct = 255 * 255;

// Operands whose sums of products are exact.
Status CheckEightBits(const NodeWriter& to, std::initializer_list<ValueId> operands) {
  for (const ValueId operand : operands) {
    if (operand == kNoValue) continue;
    const DType dtype = to.desc(operand).dtype;
    if (dtype == DType::kInt8 || dtype == DType::kUInt8) continue;
    return Error(StatusCode::kUnsupported, "a factor or zero point of {}", DTypeName(dtype));
  }
  return Status::Ok();
}

// The zero point of all elements, 0 if it is absent; none if it is computed, or if there are several.
Result<std::optional<float>> OneZeroPoint(const NodeWriter& to, ValueId zero_point) {
  if (zero_point == kNoValue) return std::optional(0.0f);
  if (!to.IsConstant(zero_point) || to.IsEmpty(zero_point)) return std::optional<float>();
  HEARTH_ASSIGN(const std::vector<float> zeros, ConstantAsFloats(to.graph(), zero_point));
  const bool differ = std::ranges::adjacent_find(zeros, std::not_equal_to()) != zeros.end();
  return differ ? std::optional<float>() : std::optional(zeros[0]);
}

// A constant of 8 bits less its zero point, or those along `dimension`, still in 8 bits: who reads weights takes zero
// points off. kNoValue if something is computed, or of another form.
Made CenteredConstant(NodeWriter& to, ValueId integers, ValueId zero_point, int dimension) {
  HEARTH_ASSIGN(const std::optional<float> zero, OneZeroPoint(to, zero_point));
  if (!to.IsConstant(integers)) return kNoValue;
  if (zero) return OnGrid(to, integers, {{1.0f}, {static_cast<int64_t>(*zero)}, 0, nullptr});
  const Shape& shape = to.shape(integers);
  if (!to.IsConstant(zero_point) || to.shape(zero_point) != Shape{shape[dimension]}) return kNoValue;
  HEARTH_ASSIGN(const std::vector<float> zeros, ConstantAsFloats(to.graph(), zero_point));
  return OnGrid(to, integers,
                {std::vector<float>(zeros.size(), 1.0f), {zeros.begin(), zeros.end()}, dimension, nullptr});
}

// Of values that may be absent.
bool AreEqual(const NodeWriter& to, ValueId a, ValueId b) {
  if (a == b) return true;
  return to.IsConstant(a) && to.IsConstant(b) && to.desc(a) == to.desc(b) &&
         std::ranges::equal(to.graph().ConstantBytes(a), to.graph().ConstantBytes(b));
}

// Centered, of constants: at once, since weights may have more elements than are evaluated as doubles. kNoValue for
// other operands and zero points of several values.
Made Widened(NodeWriter& to, ValueId x, ValueId zero_point) {
  const TensorDesc desc = to.desc(x);
  if (!to.IsConstant(x) || desc.quantization || BitsOf(desc.dtype) > 16 || IsFloat(desc.dtype) || to.IsEmpty(x))
    return kNoValue;
  HEARTH_ASSIGN(const std::optional<float> zero, OneZeroPoint(to, zero_point));
  if (!zero) return kNoValue;
  if (!to.budget().ChargeMade(4 * static_cast<size_t>(desc.shape.element_count()))) return kNoValue;
  HEARTH_ASSIGN(std::vector<float> floats, ConstantAsFloats(to.graph(), x));
  for (float& number : floats) number -= *zero;
  return to.graph().AddFloatConstant(to.graph().value(x).name, desc.shape, floats);
}

// A product of computed integers that float32 holds, as int32: in parts that stay below 2^24.
Made ProductInParts(NodeWriter& to, ValueId a, ValueId b) {
  const int left = to.shape(a).rank(), right = to.shape(b).rank();
  return AddSumOfParts(to, to.shape(a)[left - 1], kExactBelow / kMostProduct,
                       [&](int32_t first, int32_t count) -> Made {
                         HEARTH_ASSIGN(const ValueId columns, to.AddSlice(a, left - 1, first, count));
                         HEARTH_ASSIGN(const ValueId rows, to.AddSlice(b, right - 2, first, count));
                         return AddProduct(to, columns, rows, kNoValue);
                       });
}

// Zero points of the weights: one number, one for each result, or those of each matrix of a batch. kNoValue if they are
// absent.
Made ColumnZeroPoint(OpView& op, size_t i) {
  if (!op.Has(i)) return kNoValue;
  HEARTH_ASSIGN(const ValueId list, op.In(i));
  const Shape& shape = op.to().shape(list);
  const int rank = shape.rank();
  if (rank < 2 || shape[rank - 1] != shape.element_count()) return list;
  return op.to().AddReshape(list, {shape[rank - 1]});
}

Made ProductOfMatrices(NodeWriter& to, ValueId x, ValueId zero, ValueId given, ValueId weight_zero) {
  HEARTH_ASSIGN(const ValueId weights, CenteredConstant(to, given, weight_zero, to.shape(given).rank() - 1));
  if (weights != kNoValue && to.shape(weights).rank() == 2 && !to.IsEmpty(x) && !to.IsEmpty(weights)) {
    return to.Add(ConvInteger{}, {x, AddPermuted(to, weights, {1, 0}), zero}, DType::kInt32);
  }
  const Shape left = to.shape(x), right = to.shape(given);
  if (left[left.rank() - 1] != right[right.rank() - 2]) {
    return Error(StatusCode::kMalformedInput, "a product of {} and {}", left.ToString(), right.ToString());
  }
  HEARTH_ASSIGN(const ValueId a, Centered(to, x, zero));
  HEARTH_ASSIGN(const ValueId b, Centered(to, given, weight_zero));
  return ProductInParts(to, a, b);
}

}  // namespace

Made OnGrid(NodeWriter& to, ValueId integers, Quantization grid) {
  if (!to.IsConstant(integers)) return Error(StatusCode::kUnsupported, "its weights{}", to.ComputedFrom(integers));
  TensorDesc desc = to.desc(integers);
  const size_t count = grid.scales.size();
  const bool is_of_8_bits = desc.dtype == DType::kInt8 || desc.dtype == DType::kUInt8;
  const bool fits =
      count == 1 || (desc.shape.rank() > grid.dimension && count == static_cast<size_t>(desc.shape[grid.dimension]));
  if (!is_of_8_bits || !fits || grid.zero_points.size() != count) {
    return Error(StatusCode::kMalformedInput, "{} scales of {} elements of shape {}", count, DTypeName(desc.dtype),
                 desc.shape.ToString());
  }
  desc.quantization = std::move(grid);
  return to.AddSameBytes(integers, std::move(desc));
}

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

Made AlongBlocks(NodeWriter& to, const Made& list, int axis, int64_t block, const Shape& whole) {
  HEARTH_TRY(list.status());
  const Shape shape = to.shape(*list);
  if (shape.rank() != whole.rank() || whole.rank() >= Shape::kMaxRank || block < 1 || block > kMostBlock ||
      shape[axis] != (whole[axis] + block - 1) / block) {
    return Error(StatusCode::kMalformedInput, "scales or zero points of shape {} for blocks of {} in {}",
                 shape.ToString(), block, whole.ToString());
  }
  const auto size = static_cast<int32_t>(std::min<int64_t>(block, std::max(whole[axis], 1)));
  const Made apart = to.AddReshape(*list, WithDimension(shape, axis + 1, 1));
  Shape spread = shape;
  spread[axis] = shape[axis] * size;
  return to.AddSlice(to.AddReshape(to.Add(BroadcastTo{WithDimension(shape, axis + 1, size)}, {apart}), spread), axis, 0,
                     whole[axis]);
}

Made Centered(NodeWriter& to, const Made& x, const Made& zero_point) {
  HEARTH_TRY(x.status());
  HEARTH_TRY(zero_point.status());
  const auto& known = to.marks().centered;
  const auto found = known.find(*x);
  if (found != known.end() && AreEqual(to, found->second.second, *zero_point)) return found->second.first;
  HEARTH_ASSIGN(const ValueId constant, Widened(to, *x, *zero_point));
  if (constant != kNoValue) return constant;
  const Made real = to.AddCast(x, DType::kFloat32);
  return *zero_point == kNoValue ? real : to.Add(BinaryKind::kSub, {real, to.AddCast(zero_point, DType::kFloat32)});
}

Made Integers(NodeWriter& to, ValueId centered, ValueId zero_point, DType dtype) {
  const Made whole = zero_point == kNoValue
                         ? Made(centered)
                         : to.Add(BinaryKind::kAdd, {centered, to.AddCast(zero_point, DType::kFloat32)});
  HEARTH_ASSIGN(const ValueId made, to.AddCast(whole, dtype));
  to.marks().centered.emplace(made, std::pair(centered, zero_point));
  return made;
}

Results ReadKnownCentered(OpView& op, GraphWriter& to) {
  static constexpr std::string_view kMoves[] = {"DepthToSpace", "Flatten", "Identity",  "MaxPool",  "Reshape",
                                                "Slice",        "Squeeze", "Transpose", "Unsqueeze"};
  const OperatorRow& row = *op.known();
  const auto& known = to.marks().centered;
  if (known.empty() || row.domain != kStandard || op.output_count() != 1 || !op.Has(0) || op.List(0) ||
      std::ranges::find(kMoves, row.name) == std::end(kMoves))
    return op.Read();
  const Order order = op.OrderOf(0);
  HEARTH_ASSIGN(const ValueId x, op.In(0, order));
  const auto found = known.find(x);
  if (found == known.end()) return op.Read();
  const auto [centered, zero_point] = found->second;
  Scope inner(op.scope().reading(), to, op.scope().sets(), &op.scope(), op.scope().attributes());
  inner.Bind(op.node().inputs[0], TensorIn(order, centered));
  OpView view(inner, op.node(), &row, op.opset());
  HEARTH_ASSIGN(const std::vector<Tensor> made, view.Read());
  HEARTH_TRY(view.misread());
  return InOrder(made[0].order(), Integers(to, made[0].value(), zero_point, to.desc(x).dtype));
}

Made RowZeroPoint(OpView& op, size_t i) {
  if (!op.Has(i)) return kNoValue;
  HEARTH_ASSIGN(const ValueId list, op.In(i));
  if (op.to().shape(list).element_count() != 1) return Error(StatusCode::kUnsupported, "scales or zero points of rows");
  return op.to().AddReshape(list, Shape());
}

Made ExactProduct(OpView& op, NodeWriter& to, ValueId x, ValueId zero, size_t weights_at, size_t zeros_at) {
  HEARTH_ASSIGN(const ValueId given, op.In(weights_at));
  HEARTH_ASSIGN(const ValueId weight_zero, ColumnZeroPoint(op, zeros_at));
  HEARTH_TRY(CheckEightBits(to, {x, given, zero, weight_zero}));
  return OfMatrices(to, x, given, [&](ValueId rows, ValueId columns) {
    return ProductOfMatrices(to, rows, zero, columns, weight_zero);
  });
}

Made ExactConvolution(OpView& op, NodeWriter& to) {
  HEARTH_ASSIGN(const ValueId x, op.Last(0));
  HEARTH_ASSIGN(const ValueId zero, RowZeroPoint(op, 2));
  HEARTH_ASSIGN(const ValueId filter, op.In(1));
  const Shape taps = to.shape(filter);
  if (taps.rank() < 3 || taps.rank() > 5)
    return Error(StatusCode::kUnsupported, "a filter of shape {}", taps.ToString());
  HEARTH_ASSIGN(const ValueId listed, ColumnZeroPoint(op, 3));
  HEARTH_TRY(CheckEightBits(to, {x, filter, zero, listed}));
  HEARTH_ASSIGN(const Windowing w, WindowingOf(op, {taps.dims().begin() + 2, taps.dims().end()}, to.shape(x)));
  const int64_t groups = op.Int("group", 1), area = CountBetween(taps, 2, taps.rank());
  HEARTH_ASSIGN(const ValueId constant, taps.rank() < 5 ? CenteredConstant(to, filter, listed, 0) : Made(kNoValue));
  // Bytes are faster than floats in large groups: 32 groups of 4 channels (56x56) take 3.7 times as long with AVX2.
  constexpr int32_t kLeastGroup = 16;
  const bool has_kernel = groups == 1 || taps[1] >= kLeastGroup,
             are_exact = kMostProduct * area * taps[1] < kExactBelow;
  if (constant != kNoValue && (has_kernel || !are_exact) && !to.IsEmpty(x) && !to.IsEmpty(constant)) {
    return AddConvolution(to, w, x, constant, zero, groups, true);
  }
  const int64_t part = (kExactBelow - 1) / (kMostProduct * std::max<int64_t>(area, 1));  // channels
  if (!are_exact && (groups != 1 || part == 0))
    return Error(StatusCode::kUnsupported, "computed windows or groups whose sums may exceed 2^24");
  HEARTH_ASSIGN(const ValueId centered, Centered(to, x, zero));
  const Made weight_zero = listed == kNoValue ? Made(listed) : AlongAxis(to, listed, 0, taps.rank());
  HEARTH_ASSIGN(const ValueId weights, constant != kNoValue ? Made(constant) : Centered(to, filter, weight_zero));
  if (are_exact) return AddWholeSums(to, AddConvolution(to, w, centered, weights, kNoValue, groups));
  const Shape image = to.shape(x);
  const int last = image.rank() - 1;
  if (image[last] != taps[1])
    return Error(StatusCode::kMalformedInput, "{} channels by a filter of shape {}", image[last], taps.ToString());
  return AddSumOfParts(to, taps[1], static_cast<int32_t>(part), [&](int32_t first, int32_t count) {
    const Made channels = to.AddSlice(centered, last, first, count);
    return AddConvolution(to, w, channels, to.AddSlice(weights, 1, first, count), kNoValue, 1);
  });
}

}  // namespace hearth::onnx
