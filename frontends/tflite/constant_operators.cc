#include "frontends/tflite/constant_operators.h"

#include <cmath>

#include "core/graph/element.h"

namespace hearth {
namespace {

constexpr int32_t kShape = 77, kZerosLike = 93, kFill = 94, kRange = 96, kRank = 110;

using MaybeResult = Result<std::optional<ConstantResult>>;

bool IsSmall(const Shape& shape) {
  const std::optional<int64_t> count = CheckedElementCount(shape);
  return count && *count <= kMaxConstantResult;
}

MaybeResult Filled(const Shape& shape, double number) {
  if (!IsSmall(shape)) return std::optional<ConstantResult>();
  return std::optional(ConstantResult{shape, std::vector<double>(static_cast<size_t>(shape.element_count()), number)});
}

MaybeResult ShapeAsResult(const Shape& shape) {
  ConstantResult result{{shape.rank()}, {}};
  result.values.assign(shape.dims().begin(), shape.dims().end());
  return std::optional(std::move(result));
}

MaybeResult EvaluateFill(const OperatorView& view) {
  HEARTH_ASSIGN(const std::optional<double> number, view.ConstantNumber(1));
  const Result<std::vector<int32_t>> dims = view.ConstantIntegers(0);
  if (!number || dims.status().code() == StatusCode::kUnsupported) return std::optional<ConstantResult>();
  HEARTH_TRY(dims.status());
  if (dims->size() > Shape::kMaxRank) {
    return Error(StatusCode::kMalformedInput, "a shape of rank {}; at most {} is possible", dims->size(),
                 int{Shape::kMaxRank});
  }
  return Filled(Shape::FromSpan(*dims), *number);
}

MaybeResult EvaluateRange(const OperatorView& view) {
  HEARTH_ASSIGN(const std::optional<double> start, view.ConstantNumber(0));
  HEARTH_ASSIGN(const std::optional<double> limit, view.ConstantNumber(1));
  HEARTH_ASSIGN(const std::optional<double> delta, view.ConstantNumber(2));
  if (!start || !limit || !delta) return std::optional<ConstantResult>();
  HEARTH_ASSIGN(const TensorDesc desc, view.DescribeInput(0));
  const bool is_float = desc.dtype == DType::kFloat32;  // TFLite then counts and adds in float32
  const double steps =
      is_float ? static_cast<float>(*limit - *start) / static_cast<float>(*delta) : (*limit - *start) / *delta;
  const double count = std::ceil(steps);
  if (*delta == 0.0 || !std::isfinite(count)) {
    return Error(StatusCode::kMalformedInput, "a range from {} to {} in steps of {} has no end", *start, *limit,
                 *delta);
  }
  if (count > static_cast<double>(kMaxConstantResult)) return std::optional<ConstantResult>();
  ConstantResult result;
  double number = *start;
  for (double k = 0; k < count; ++k) {
    result.values.push_back(number);
    number = is_float ? static_cast<float>(number) + static_cast<float>(*delta) : number + *delta;
  }
  result.shape = {static_cast<int32_t>(result.values.size())};
  return std::optional(std::move(result));
}

}  // namespace

MaybeResult EvaluateConstantOperator(int32_t code, const OperatorView& view) {
  const int operands = code == kFill ? 2 : code == kRange ? 3 : 1;
  const bool is_one = code == kShape || code == kRank || code == kZerosLike || code == kFill || code == kRange;
  if (!is_one || view.output_count() != 1 || view.input_count() != operands) return std::optional<ConstantResult>();
  for (int i = 0; i < operands; ++i) {
    if (!view.HasInput(i)) return std::optional<ConstantResult>();
  }
  if (code == kFill) return EvaluateFill(view);
  if (code == kRange) return EvaluateRange(view);
  if (view.InputHasNoShape(0)) return std::optional<ConstantResult>();
  HEARTH_ASSIGN(const Shape shape, view.InputShape(0));
  if (code == kShape) return ShapeAsResult(shape);
  return code == kRank ? Filled({}, shape.rank()) : Filled(shape, 0.0);
}

}  // namespace hearth
