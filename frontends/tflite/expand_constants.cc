// Operators that make constants once the shapes and numbers of their operands are known.
#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/graph/element.h"
#include "frontends/tflite/op_readers.h"
#include "frontends/writer/rows.h"

namespace hearth {
namespace {

constexpr int64_t kMostNumbers = 1 << 24;
constexpr int32_t kRankOperator = 110;

// The operator's only result as this shape and type.
Result<TensorDesc> ResultOf(const OperatorView& op, const Shape& shape) {
  const std::optional<int64_t> count = CheckedElementCount(shape);
  if (!count || *count > kMostNumbers) return Error(StatusCode::kUnsupported, "a result of shape {}", shape.ToString());
  if (op.output_count() != 1) return Error(StatusCode::kMalformedInput, "it has {} outputs", op.output_count());
  HEARTH_ASSIGN(TensorDesc made, op.DescribeOutput(0));
  made.shape = shape;
  HEARTH_TRY(op.to().budget().CheckRoom(made));
  return made;
}

Status CheckShapeIsKnown(const OperatorView& op) {
  if (!op.InputHasNoShape(0)) return Status::Ok();
  return Error(StatusCode::kUnsupported, "the {} of its operand is known at run time only: choose the inputs' shapes",
               op.code().row->code == kRankOperator ? "rank" : "shape");
}

// An operand's only number as it is stored.
Result<double> StoredNumber(const OperatorView& op, size_t i) {
  if (op.shape(i).element_count() != 1) {
    return Error(StatusCode::kMalformedInput, "{} of shape {} is given where one number is needed",
                 op.InputLabel(static_cast<int>(i)), op.shape(i).ToString());
  }
  if (op.to().IsConstant(op.operand(i))) {
    return LoadElement(op.desc(i).dtype, op.to().graph().ConstantBytes(op.operand(i)), 0);
  }
  return Error(StatusCode::kUnsupported, "its {}{}", op.InputLabel(static_cast<int>(i)),
               op.to().ComputedFrom(op.operand(i)));
}

}  // namespace

Expanded ExpandShape(OperatorView& op, GraphWriter& to) {
  HEARTH_TRY(CheckShapeIsKnown(op));
  HEARTH_ASSIGN(const TensorDesc made, ResultOf(op, Shape()));
  return OneValue(AddShapeOf(to, op.operand(0), made));
}

Expanded ExpandRank(OperatorView& op, GraphWriter& to) {
  HEARTH_TRY(CheckShapeIsKnown(op));
  HEARTH_ASSIGN(const TensorDesc made, ResultOf(op, Shape()));
  return OneValue(to.AddConstant(made, {static_cast<double>(op.shape(0).rank())}));
}

Expanded ExpandZerosLike(OperatorView& op, GraphWriter& to) {
  HEARTH_TRY(CheckShapeIsKnown(op));
  HEARTH_ASSIGN(const TensorDesc made, ResultOf(op, op.shape(0)));
  return OneValue(to.AddConstant(made, std::vector<double>(static_cast<size_t>(made.shape.element_count()))));
}

// (shape, number)
Expanded ExpandFill(OperatorView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const Shape shape, to.ShapeIn(op.operand(0)));
  return OneValue(to.AddFilled(shape, op.operand(1)));
}

// (start, limit, delta)
Expanded ExpandRange(OperatorView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const double start, StoredNumber(op, 0));
  HEARTH_ASSIGN(const double limit, StoredNumber(op, 1));
  HEARTH_ASSIGN(const double delta, StoredNumber(op, 2));
  // float64 could not keep all numbers of the range apart.
  if (op.desc(0).dtype == DType::kInt64 && std::max(std::abs(start), std::abs(limit)) > 0x1p53) {
    return Error(StatusCode::kUnsupported, "a range of numbers above 2^53");
  }
  const bool is_float = op.desc(0).dtype == DType::kFloat32;  // TFLite counts and adds in float32 for it
  const double steps =
      is_float ? static_cast<float>(limit - start) / static_cast<float>(delta) : (limit - start) / delta;
  const double count = std::max(std::ceil(steps), 0.0);
  if (delta == 0.0 || !std::isfinite(count)) {
    return Error(StatusCode::kMalformedInput, "a range from {} to {} in steps of {} has no end", start, limit, delta);
  }
  if (count > kMostNumbers) return Error(StatusCode::kUnsupported, "a range of {} numbers", count);
  HEARTH_ASSIGN(const TensorDesc made, ResultOf(op, {static_cast<int32_t>(count)}));
  std::vector<double> numbers;
  double number = start;
  for (double k = 0; k < count; ++k) {
    numbers.push_back(number);
    number = is_float ? static_cast<float>(number) + static_cast<float>(delta) : number + delta;
  }
  return OneValue(to.AddConstant(made, numbers));
}

// (shape, shape): the shape that both broadcast to.
Expanded ExpandBroadcastArgs(OperatorView& op, GraphWriter& to) {
  if (!to.IsConstant(op.operand(0)) || !to.IsConstant(op.operand(1))) {
    return Error(StatusCode::kUnsupported, "its operands are shapes that are computed from data");
  }
  HEARTH_ASSIGN(std::vector<int64_t> longer, to.Integers(op.operand(0)));
  HEARTH_ASSIGN(std::vector<int64_t> shorter, to.Integers(op.operand(1)));
  if (longer.size() < shorter.size()) std::swap(longer, shorter);
  for (size_t k = 0; k < shorter.size(); ++k) {
    int64_t& size = longer[longer.size() - shorter.size() + k];
    if (size != 1 && shorter[k] != 1 && size != shorter[k]) {
      return Error(StatusCode::kMalformedInput, "sizes {} and {} do not broadcast", size, shorter[k]);
    }
    if (size == 1) size = shorter[k];
  }
  HEARTH_ASSIGN(const TensorDesc made, ResultOf(op, {static_cast<int32_t>(longer.size())}));
  return OneValue(to.AddConstant(made, {longer.begin(), longer.end()}));
}

// A sparse constant is made dense when it becomes a value.
Expanded ExpandDensify(OperatorView& op, GraphWriter& to) {
  if (to.IsConstant(op.operand(0))) return op.operands();
  return Error(StatusCode::kUnsupported, "its operand is not a constant");
}

}  // namespace hearth
