#include "frontends/tflite/constant_operators.h"

#include <cmath>

#include "core/graph/element.h"
#include "frontends/tflite/op_readers.h"
#include "frontends/tflite/operator_table.h"

namespace hearth {
namespace {

constexpr int32_t kAdd = 0, kConcatenation = 2, kMul = 18, kReshape = 22, kGather = 36, kStridedSlice = 45, kCast = 53,
                  kSlice = 65, kSum = 74, kShape = 77, kProduct = 81, kZerosLike = 93, kFill = 94, kRange = 96,
                  kQuantize = 114, kRank = 110, kBroadcastArgs = 145;

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
  HEARTH_ASSIGN(const double real, view.ConstantReal(1));  // the stored number of a quantized one is not what it means
  return Filled(Shape::FromSpan(*dims), real);
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

// Operand `i` is a list without elements: the dimensions of a scalar, or none of a shape's.
bool IsEmptyList(const OperatorView& view, int i) {
  if (!view.HasInput(i)) return false;
  const Result<Shape> shape = view.InputShape(i);
  return shape.ok() && shape->rank() == 1 && (*shape)[0] == 0;
}

bool AreListsOfConstants(const OperatorView& view, int first, int count) {
  for (int i = first; i < first + count; ++i) {
    if (!view.HasInput(i) || view.InputShape(i).status().code() != StatusCode::kOk) return false;
    if (view.InputShape(i)->rank() != 1 || !view.ConstantIntegers(i).ok()) return false;
  }
  return true;
}

MaybeResult EmptyList() {
  return std::optional(ConstantResult{{0}, {}});
}

// Lists of which some are empty.
MaybeResult EvaluateConcatenation(const OperatorView& view) {
  bool has_empty = false;
  for (int i = 0; i < view.input_count(); ++i) has_empty = has_empty || IsEmptyList(view, i);
  if (!has_empty || !AreListsOfConstants(view, 0, view.input_count())) return std::optional<ConstantResult>();
  ConstantResult result;
  for (int i = 0; i < view.input_count(); ++i) {
    HEARTH_ASSIGN(const std::vector<int32_t> numbers, view.ConstantIntegers(i));
    result.values.insert(result.values.end(), numbers.begin(), numbers.end());
  }
  result.shape = {static_cast<int32_t>(result.values.size())};
  return std::optional(std::move(result));
}

// Nodes have elements, so what shapes are computed from is evaluated here where a list is empty.
MaybeResult EvaluateOnEmptyLists(int32_t code, const OperatorView& view) {
  switch (code) {
    case kConcatenation: return EvaluateConcatenation(view);
    case kStridedSlice:
      // A list that is cut to nothing is the one constant form that can't be read.
      if (view.input_count() == 4 && AreListsOfConstants(view, 0, 4) &&
          ReadStridedSlice(view).status().code() == StatusCode::kUnsupported) {
        return EmptyList();
      }
      break;
    case kSlice:
      // The items before the first one of a list, of whatever rank.
      if (view.input_count() == 3 && view.HasInput(0) && AreListsOfConstants(view, 1, 2)) {
        const Result<Op> slice = ReadSlice(view);
        if (slice.ok() && std::get<Slice>(*slice).size.element_count() == 0) {
          return std::optional(ConstantResult{std::get<Slice>(*slice).size, {}});
        }
      }
      break;
    case kSum:
    case kProduct: {
      if (!IsEmptyList(view, 0)) break;
      HEARTH_ASSIGN(const wire::ReducerOptions* options, view.Options<wire::ReducerOptions>());
      return Filled(options->keep_dims() ? Shape{1} : Shape(), code == kSum ? 0.0 : 1.0);
    }
    case kGather: {
      if (!IsEmptyList(view, 1)) break;
      HEARTH_ASSIGN(const Shape from, view.InputShape(0));
      if (from.rank() == 1) return EmptyList();
      break;
    }
    case kCast:
    case kReshape:
      if (IsEmptyList(view, 0)) return EmptyList();
      break;
    case kDequantizeOperator:
    case kQuantize: {
      const Result<Shape> shape = view.HasInput(0) ? view.InputShape(0) : Result<Shape>(Shape());
      if (shape.ok() && shape->element_count() == 0) return std::optional(ConstantResult{*shape, {}});
      break;
    }
    case kAdd:
    case kMul:
      if (IsEmptyList(view, 0) || IsEmptyList(view, 1)) return EmptyList();
      break;
    default: break;
  }
  return std::optional<ConstantResult>();
}

int OperandsOf(int32_t code) {
  return code == kRange ? 3 : code == kFill || code == kBroadcastArgs ? 2 : 1;
}

}  // namespace

MaybeResult EvaluateConstantOperator(int32_t code, const OperatorView& view) {
  if (view.output_count() != 1) return std::optional<ConstantResult>();
  const bool is_one = code == kShape || code == kRank || code == kZerosLike || code == kFill || code == kRange ||
                      code == kBroadcastArgs;
  if (!is_one) return EvaluateOnEmptyLists(code, view);
  if (view.input_count() != OperandsOf(code)) return std::optional<ConstantResult>();
  for (int i = 0; i < view.input_count(); ++i) {
    if (!view.HasInput(i)) return std::optional<ConstantResult>();
  }
  if (code == kFill) return EvaluateFill(view);
  if (code == kRange) return EvaluateRange(view);
  if (code == kBroadcastArgs) return EvaluateBroadcastArgs(view);
  if (view.InputHasNoShape(0)) return std::optional<ConstantResult>();
  HEARTH_ASSIGN(const Shape shape, view.InputShape(0));
  if (code == kShape) return ShapeAsResult(shape);
  return code == kRank ? Filled({}, shape.rank()) : Filled(shape, 0.0);
}

}  // namespace hearth
