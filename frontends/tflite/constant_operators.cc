#include "frontends/tflite/constant_operators.h"

#include <cmath>

#include "core/graph/element.h"

namespace hearth {
namespace {

constexpr int32_t kShapeOp = 77, kZerosLike = 93, kFill = 94, kRange = 96, kRank = 110, kScatterNd = 122,
                  kBroadcastArgs = 145;

using MaybeResult = Result<std::optional<ConstantResult>>;

// Whether a result of this shape is small enough to be computed here.
Result<bool> IsSmall(const OperatorView& view, const Shape& shape) {
  const std::optional<int64_t> count = CheckedElementCount(shape);
  if (!count || *count > kMaxConstantResult) return false;
  return view.HasRoomForOutput(0, shape);
}

MaybeResult Filled(const OperatorView& view, const Shape& shape, double number) {
  HEARTH_ASSIGN(const bool is_small, IsSmall(view, shape));
  if (!is_small) return std::optional<ConstantResult>();
  return std::optional(ConstantResult{shape, std::vector<double>(static_cast<size_t>(shape.element_count()), number)});
}

MaybeResult ShapeAsResult(const Shape& shape) {
  ConstantResult result{{shape.rank()}, {}};
  result.values.assign(shape.dims().begin(), shape.dims().end());
  return std::optional(std::move(result));
}

MaybeResult EvaluateFill(const OperatorView& view) {
  const Result<std::vector<int32_t>> dims = view.ConstantIntegers(0);
  if (dims.status().code() == StatusCode::kUnsupported) return std::optional<ConstantResult>();
  HEARTH_TRY(dims.status());
  if (dims->size() > Shape::kMaxRank) {
    return Error(StatusCode::kMalformedInput, "a shape of rank {}; at most {} is possible", dims->size(),
                 int{Shape::kMaxRank});
  }
  const Shape shape = Shape::FromSpan(*dims);
  if (CheckedElementCount(shape) == 0) return Filled(view, shape, 0.0);
  HEARTH_ASSIGN(const std::optional<double> number, view.ConstantNumber(1));
  if (!number) return std::optional<ConstantResult>();
  const Result<double> real = view.ConstantReal(1);  // the stored number of a quantized one is not what it means
  if (real.status().code() == StatusCode::kUnsupported) return std::optional<ConstantResult>();
  HEARTH_TRY(real.status());
  return Filled(view, shape, *real);
}

MaybeResult EvaluateRange(const OperatorView& view) {
  HEARTH_ASSIGN(const std::optional<double> start, view.ConstantNumber(0));
  HEARTH_ASSIGN(const std::optional<double> limit, view.ConstantNumber(1));
  HEARTH_ASSIGN(const std::optional<double> delta, view.ConstantNumber(2));
  if (!start || !limit || !delta) return std::optional<ConstantResult>();
  HEARTH_ASSIGN(const TensorDesc desc, view.DescribeInput(0));
  // float64 could not keep all numbers of the range apart.
  if (desc.dtype == DType::kInt64 && std::max(std::abs(*start), std::abs(*limit)) > 0x1p53)
    return std::optional<ConstantResult>();
  const bool is_float = desc.dtype == DType::kFloat32;  // TFLite counts and adds in float32 for it
  const double steps =
      is_float ? static_cast<float>(*limit - *start) / static_cast<float>(*delta) : (*limit - *start) / *delta;
  const double count = std::ceil(steps);
  if (*delta == 0.0 || !std::isfinite(count)) {
    return Error(StatusCode::kMalformedInput, "a range from {} to {} in steps of {} has no end", *start, *limit,
                 *delta);
  }
  if (count > static_cast<double>(kMaxConstantResult)) return std::optional<ConstantResult>();
  HEARTH_ASSIGN(const bool is_small, IsSmall(view, {static_cast<int32_t>(std::max(count, 0.0))}));
  if (!is_small) return std::optional<ConstantResult>();
  ConstantResult result;
  double number = *start;
  for (double k = 0; k < count; ++k) {
    result.values.push_back(number);
    number = is_float ? static_cast<float>(number) + static_cast<float>(*delta) : number + *delta;
  }
  result.shape = {static_cast<int32_t>(result.values.size())};
  return std::optional(std::move(result));
}

// The shape that two shapes broadcast to.
MaybeResult EvaluateBroadcastArgs(const OperatorView& view) {
  const Result<std::vector<int32_t>> a = view.ConstantIntegers(0), b = view.ConstantIntegers(1);
  for (const auto* dims : {&a, &b}) {
    if (dims->status().code() == StatusCode::kUnsupported) return std::optional<ConstantResult>();
    HEARTH_TRY(dims->status());
  }
  const bool a_is_longer = a->size() >= b->size();
  const std::vector<int32_t>&longer = a_is_longer ? *a : *b, &shorter = a_is_longer ? *b : *a;
  ConstantResult result{{static_cast<int32_t>(longer.size())}, {longer.begin(), longer.end()}};
  for (size_t k = 0; k < shorter.size(); ++k) {
    double& dim = result.values[longer.size() - shorter.size() + k];
    if (dim != 1 && shorter[k] != 1 && dim != shorter[k]) {
      return Error(StatusCode::kMalformedInput, "sizes {} and {} do not broadcast", dim, shorter[k]);
    }
    if (dim == 1) dim = shorter[k];
  }
  return std::optional(std::move(result));
}

// Elements that nothing writes stay zero.
MaybeResult EvaluateScatterNd(const OperatorView& view) {
  HEARTH_ASSIGN(const Shape updates, view.InputShape(1));
  const Result<std::vector<int32_t>> dims = view.ConstantIntegers(2);
  const bool is_nothing = updates.element_count() == 0 && dims.ok() && dims->size() <= Shape::kMaxRank;
  return is_nothing ? Filled(view, Shape::FromSpan(*dims), 0.0) : std::optional<ConstantResult>();
}

int OperandsOf(int32_t code) {
  return code == kRange || code == kScatterNd ? 3 : code == kFill || code == kBroadcastArgs ? 2 : 1;
}

}  // namespace

MaybeResult EvaluateConstantOperator(int32_t code, const OperatorView& view) {
  if (view.output_count() != 1) return std::optional<ConstantResult>();
  const bool is_one = code == kShapeOp || code == kRank || code == kZerosLike || code == kFill || code == kRange ||
                      code == kBroadcastArgs || code == kScatterNd;
  if (!is_one || view.input_count() != OperandsOf(code)) return std::optional<ConstantResult>();
  for (int i = 0; i < view.input_count(); ++i) {
    if (!view.HasInput(i)) return std::optional<ConstantResult>();
  }
  if (code == kFill) return EvaluateFill(view);
  if (code == kRange) return EvaluateRange(view);
  if (code == kBroadcastArgs) return EvaluateBroadcastArgs(view);
  if (code == kScatterNd) return EvaluateScatterNd(view);
  if (view.InputHasNoShape(0)) return std::optional<ConstantResult>();
  HEARTH_ASSIGN(const Shape shape, view.InputShape(0));
  if (code == kShapeOp) return ShapeAsResult(shape);
  return code == kRank ? Filled(view, {}, shape.rank()) : Filled(view, shape, 0.0);
}

}  // namespace hearth
