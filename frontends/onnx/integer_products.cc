#include "frontends/onnx/integer_products.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "core/base/error.h"
#include "core/graph/evaluate.h"
#include "frontends/onnx/product.h"
#include "frontends/onnx/windows.h"

namespace hearth::onnx {
namespace {

constexpr double kExactBelow = 1 << 24;  // float32 has all integers

// Operands whose sums of products are exact.
Status CheckEightBits(const OpView& op) {
  for (size_t i = 0; i < 4; ++i) {
    if (!op.Has(i)) continue;
    HEARTH_ASSIGN(const TensorDesc desc, op.Desc(i));
    if (desc.dtype == DType::kInt8 || desc.dtype == DType::kUInt8) continue;
    return Error(StatusCode::kUnsupported, "a factor or zero point of {}", DTypeName(desc.dtype));
  }
  return Status::Ok();
}

constexpr double kLargestCentered = 255.0;  // size of 8 bits less a zero point

// How much the weights of one result make of elements that are at most 1 in size, and the largest weight. Results are
// the weights' first dimension, or their last.
struct WeightSizes {
  double result = 0, element = 0;
};
WeightSizes SizesOf(const NodeWriter& to, ValueId weights, bool are_results_last) {
  const Shape shape = to.shape(weights);
  const auto count = static_cast<size_t>(shape.element_count());
  const auto results = static_cast<size_t>(shape[are_results_last ? shape.rank() - 1 : 0]);
  Result<std::vector<float>> floats = std::vector<float>();
  if (to.IsConstant(weights)) floats = ConstantAsFloats(to.graph(), weights);
  if (!floats.ok() || floats->size() != count) floats = std::vector<float>(count, float{kLargestCentered});
  WeightSizes sizes{0, 1};
  std::vector<double> sums(std::max<size_t>(results, 1));
  for (size_t k = 0; k < count; ++k) {
    const double size = std::fabs(static_cast<double>((*floats)[k]));
    sums[are_results_last ? k % results : k / (count / results)] += size;  // of a batch of matrices, of all of them
    sizes.element = std::max(sizes.element, size);
  }
  sizes.result = std::ranges::max(sums);
  return sizes;
}

// The zero point of all elements, 0 if it is absent; none if it is computed, or if there are several.
Result<std::optional<float>> OneZeroPoint(const NodeWriter& to, ValueId zero_point) {
  if (zero_point == kNoValue) return std::optional(0.0f);
  if (!to.IsConstant(zero_point) || to.IsEmpty(zero_point)) return std::optional<float>();
  HEARTH_ASSIGN(const std::vector<float> zeros, ConstantAsFloats(to.graph(), zero_point));
  const bool differ = std::ranges::adjacent_find(zeros, std::not_equal_to()) != zeros.end();
  return differ ? std::optional<float>() : std::optional(zeros[0]);
}

// A constant of 8 bits less its zero point, still in 8 bits: who reads weights takes the zero point off. kNoValue if it
// is none, or if its zero points differ.
Made CenteredConstant(NodeWriter& to, const Made& integers, const Made& zero_point) {
  HEARTH_TRY(integers.status());
  HEARTH_TRY(zero_point.status());
  HEARTH_ASSIGN(const std::optional<float> zero, OneZeroPoint(to, *zero_point));
  if (!to.IsConstant(*integers) || !zero) return kNoValue;
  return OnGrid(to, *integers, {{1.0f}, {static_cast<int64_t>(*zero)}, 0, nullptr});
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

// Sums of integers as int32, of a device that may compute them by transforms.
Made AsSums(NodeWriter& to, const Made& sums) {
  return to.AddCast(to.Add(UnaryKind::kRound, sums), DType::kInt32);
}

// A product of integers that float32 holds, as int32.
Made ExactProduct(NodeWriter& to, ValueId a, ValueId b) {
  const Shape left = to.shape(a), right = to.shape(b);
  if (left.rank() < 2 || right.rank() < 2) return Error(StatusCode::kUnsupported, "a product of vectors");
  const int32_t depth = left[left.rank() - 1];
  const WeightSizes sizes = SizesOf(to, b, true);
  const bool are_exact = kLargestCentered * sizes.result < kExactBelow;
  const auto part =
      are_exact ? std::max(depth, 1) : static_cast<int32_t>((kExactBelow - 1) / (kLargestCentered * sizes.element));
  HEARTH_TRY(to.budget().ChargeOperators(4 * (int64_t{depth} / part + 1)));
  Made sum(kNoValue);
  for (int32_t first = 0; first < depth; first += part) {
    const int32_t count = std::min(part, depth - first);
    HEARTH_ASSIGN(const ValueId columns, to.AddSlice(a, left.rank() - 1, first, count));
    HEARTH_ASSIGN(const ValueId rows, to.AddSlice(b, right.rank() - 2, first, count));
    const Made product = AsSums(to, AddProduct(to, columns, rows, kNoValue));
    sum = first == 0 ? product : to.Add(BinaryKind::kAdd, {sum, product});
    HEARTH_TRY(sum.status());
  }
  return sum;
}

// Zero points of the weights: one number, or one for each result. kNoValue if they are absent.
Made ColumnZeroPoint(OpView& op, size_t i) {
  if (!op.Has(i)) return kNoValue;
  HEARTH_ASSIGN(const ValueId list, op.In(i));
  if (op.to().shape(list).rank() > 1) return Error(StatusCode::kUnsupported, "zero points of a batch");
  return list;
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

Results ReadKnownCentered(OpView& op) {
  static constexpr std::string_view kMoves[] = {"DepthToSpace", "Flatten", "Identity",  "MaxPool",  "Reshape",
                                                "Slice",        "Squeeze", "Transpose", "Unsqueeze"};
  NodeWriter& to = op.to();
  const OperatorRow& row = *op.known();
  const auto& known = to.marks().centered;
  if (known.empty() || !row.domain.empty() || op.output_count() != 1 || !op.Has(0) ||
      std::ranges::find(kMoves, row.name) == std::end(kMoves))
    return op.Read();
  const Order order = op.OrderOf(0);
  HEARTH_ASSIGN(const ValueId x, op.In(0, order));
  const auto found = known.find(x);
  if (found == known.end()) return op.Read();
  const auto [centered, zero_point] = found->second;
  Scope inner(op.scope().reading(), op.to(), op.scope().sets(), &op.scope(), op.scope().attributes());
  inner.Bind(op.node().inputs[0], TensorIn(order, centered));
  OpView view(inner, op.node(), &row, op.opset());
  HEARTH_ASSIGN(const std::vector<Tensor> made, view.Read());
  HEARTH_TRY(view.misread());
  return InOrder(made[0].order(), Integers(to, made[0].value(), zero_point, to.desc(x).dtype));
}

Made RowZeroPoint(OpView& op, size_t i) {
  if (!op.Has(i)) return kNoValue;
  HEARTH_ASSIGN(const ValueId list, op.In(i));
  if (op.to().shape(list).element_count() != 1) return Error(StatusCode::kUnsupported, "zero points of rows");
  return op.to().AddReshape(list, Shape());
}

Made ExactProduct(OpView& op) {
  HEARTH_TRY(CheckEightBits(op));
  HEARTH_ASSIGN(const ValueId a, Centered(op.to(), op.In(0), RowZeroPoint(op, 2)));
  const Made given = op.In(1), zero_point = ColumnZeroPoint(op, 3);
  HEARTH_ASSIGN(ValueId b, CenteredConstant(op.to(), given, zero_point));
  if (b == kNoValue || op.to().shape(b).rank() != 2) {
    HEARTH_ASSIGN(b, Centered(op.to(), given, zero_point));
  }
  return ExactProduct(op.to(), a, b);
}

Made ExactConvolution(OpView& op) {
  NodeWriter& to = op.to();
  HEARTH_TRY(CheckEightBits(op));
  HEARTH_ASSIGN(const ValueId x, Centered(to, op.Last(0), RowZeroPoint(op, 2)));
  HEARTH_ASSIGN(const ValueId filter, op.In(1));
  const Shape taps = to.shape(filter);
  if (taps.rank() < 3 || taps.rank() > 4)
    return Error(StatusCode::kUnsupported, "a filter of shape {}", taps.ToString());
  HEARTH_ASSIGN(const ValueId listed, ColumnZeroPoint(op, 3));
  HEARTH_ASSIGN(const ValueId zero, listed == kNoValue ? Made(listed) : AlongAxis(to, listed, 0, taps.rank()));
  HEARTH_ASSIGN(ValueId weights, CenteredConstant(to, filter, zero));
  if (weights == kNoValue) {
    HEARTH_ASSIGN(weights, Centered(to, filter, zero));
  }
  HEARTH_ASSIGN(const Windowing w, WindowingOf(op, {taps.dims().begin() + 2, taps.dims().end()}, to.shape(x)));
  const int64_t groups = op.Int("group", 1);
  const WeightSizes sizes = SizesOf(to, weights, false);
  const double per_channel = sizes.element * kLargestCentered * static_cast<double>(CountBetween(taps, 2, taps.rank()));
  const bool are_exact = kLargestCentered * sizes.result < kExactBelow;
  const auto part = static_cast<int32_t>(std::max(1.0, std::floor((kExactBelow - 1) / per_channel)));
  if (per_channel >= kExactBelow) return Error(StatusCode::kUnsupported, "a window whose sums exceed 2^24");
  if (are_exact || part >= taps[1]) return AsSums(to, AddConvolution(to, w, x, weights, kNoValue, groups));
  if (groups != 1) return Error(StatusCode::kUnsupported, "groups whose sums exceed 2^24");
  HEARTH_TRY(to.budget().ChargeOperators(4 * (int64_t{taps[1]} / part + 1)));
  Made sum(kNoValue);
  for (int32_t first = 0; first < taps[1]; first += part) {
    const int32_t count = std::min(part, taps[1] - first);
    const Made channels = to.AddSlice(x, to.shape(x).rank() - 1, first, count);
    const Made some = AddConvolution(to, w, channels, to.AddSlice(weights, 1, first, count), kNoValue, 1);
    const Made product = AsSums(to, some);
    sum = first == 0 ? product : to.Add(BinaryKind::kAdd, {sum, product});
    HEARTH_TRY(sum.status());
  }
  return sum;
}

}  // namespace hearth::onnx
