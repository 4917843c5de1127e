// Sequences of tensors, which exist only while the file is read: lists whose length and places are known then.
#include <algorithm>

#include "core/base/error.h"
#include "core/base/numbers.h"
#include "frontends/onnx/operators.h"
#include "frontends/onnx/shared.h"
#include "frontends/writer/rows.h"

namespace hearth::onnx {
namespace {

using List = std::vector<ValueId>;

Results Sequence(List list) {
  return std::vector<Tensor>{{.list = std::make_shared<const List>(std::move(list))}};
}

Result<List> ListOf(const OpView& op) {
  const auto list = op.List(0);
  if (list == nullptr) return Error(StatusCode::kMalformedInput, "its operand 0 is no sequence");
  HEARTH_TRY(op.scope().reading().budget.ChargeSteps(list->size()));
  return *list;
}

// The place that operand `i` names; below 0 it counts from the end. `most`: the last one.
Result<ptrdiff_t> PlaceIn(const OpView& op, const List& list, size_t i, int64_t most) {
  HEARTH_ASSIGN(int64_t place, op.Integer(i));
  const auto size = static_cast<int64_t>(list.size());
  if (place < 0) place += size;
  if (place >= 0 && place <= most) return static_cast<ptrdiff_t>(place);
  return Error(StatusCode::kMalformedInput, "a place outside of its sequence of {}", size);
}

Results ReadConstruct(OpView& op, GraphWriter& /*to*/) {
  List list;
  for (size_t i = 0; i < op.input_count(); ++i) {
    HEARTH_ASSIGN(const ValueId value, op.In(i));
    list.push_back(value);
  }
  return Sequence(std::move(list));
}

Results ReadAt(OpView& op, GraphWriter& /*to*/) {
  HEARTH_ASSIGN(const List list, ListOf(op));
  HEARTH_ASSIGN(const ptrdiff_t place, PlaceIn(op, list, 1, std::ssize(list) - 1));
  return Plain(list[static_cast<size_t>(place)]);
}

Results ReadInsert(OpView& op, GraphWriter& /*to*/) {
  HEARTH_ASSIGN(List list, ListOf(op));
  HEARTH_ASSIGN(const ValueId value, op.In(1));
  ptrdiff_t place = std::ssize(list);
  if (op.Has(2)) {
    HEARTH_ASSIGN(place, PlaceIn(op, list, 2, std::ssize(list)));
  }
  list.insert(list.begin() + place, value);
  return Sequence(std::move(list));
}

Results ReadErase(OpView& op, GraphWriter& /*to*/) {
  HEARTH_ASSIGN(List list, ListOf(op));
  if (list.empty()) return Error(StatusCode::kMalformedInput, "a sequence without tensors");
  ptrdiff_t place = std::ssize(list) - 1;
  if (op.Has(1)) {
    HEARTH_ASSIGN(place, PlaceIn(op, list, 1, std::ssize(list) - 1));
  }
  list.erase(list.begin() + place);
  return Sequence(std::move(list));
}

Results ReadLength(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const List list, ListOf(op));
  return Plain(to.AddConstant(Shape(), DType::kInt64, {static_cast<double>(list.size())}));
}

// Parts of the sizes that operand 1 lists, or of the one size that it gives; without it slices, with their dimension
// only if keepdims says so.
Results ReadSplitToSequence(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const ValueId x, op.In(0));
  const Shape shape = to.shape(x);
  HEARTH_ASSIGN(const int axis, op.AxisOf("axis", 0, shape.rank()));
  const bool drops = !op.Has(1) && op.Int("keepdims", 1) == 0;
  std::vector<int64_t> sizes;
  if (op.Has(1)) {
    HEARTH_ASSIGN(sizes, op.Numbers(1));
  }
  HEARTH_ASSIGN(const Shape form, op.Has(1) ? op.ShapeOf(1) : Result<Shape>(Shape()));
  const int64_t length = shape[axis];
  if (form.rank() == 0) {  // one size for all; the last part may be smaller
    const int64_t size = std::min(op.Has(1) ? sizes[0] : 1, std::max<int64_t>(length, 1));
    const int64_t count = size > 0 ? Tiles(length, size) : std::min<int64_t>(length, 1);
    HEARTH_TRY(to.budget().ChargeOperators(count));
    sizes.assign(static_cast<size_t>(count), size);
    if (count > 0 && size > 0) sizes.back() = length - (count - 1) * size;
  } else {
    HEARTH_TRY(to.budget().ChargeOperators(std::ssize(sizes)));
  }
  HEARTH_TRY(CheckParts(sizes, std::ssize(sizes), axis, shape));
  List list;
  int32_t first = 0;
  for (const int64_t size : sizes) {
    const Made part = to.AddSlice(x, axis, first, static_cast<int32_t>(size));
    HEARTH_ASSIGN(const ValueId made, drops ? to.AddReshape(part, Without(shape, axis)) : part);
    list.push_back(made);
    first += static_cast<int32_t>(size);
  }
  return Sequence(std::move(list));
}

Results ReadConcatFromSequence(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const List list, ListOf(op));
  if (list.empty()) return Error(StatusCode::kUnsupported, "a sequence without tensors");
  HEARTH_ASSIGN(const bool is_new, op.Flag("new_axis"));
  HEARTH_ASSIGN(const int axis, op.AxisOf("axis", 0, to.shape(list[0]).rank() + (is_new ? 1 : 0)));
  if (is_new) return Plain(to.Add(Pack{axis}, list));
  return Plain(AddConcat(to, list, axis));
}

// An optional value that is there is the value itself.
Results ReadOptional(OpView& op, GraphWriter& /*to*/) {
  if (!op.Has(0)) return Error(StatusCode::kUnsupported, "an optional value that is absent");
  HEARTH_ASSIGN(const Tensor* tensor, op.scope().Read(op.node().inputs[0]));
  return std::vector{*tensor};
}

Results ReadHasElement(OpView& op, GraphWriter& to) {
  return Plain(to.AddConstant(Shape(), DType::kBool, {op.Has(0) ? 1.0 : 0.0}));
}

}  // namespace

constexpr OperatorRow kSequenceRows[] = {
    {"SequenceConstruct", ReadConstruct},
    {"SequenceEmpty", ReadConstruct},
    {"SequenceAt", ReadAt},
    {"SequenceInsert", ReadInsert},
    {"SequenceErase", ReadErase},
    {"SequenceLength", ReadLength},
    {"SplitToSequence", ReadSplitToSequence},
    {"ConcatFromSequence", ReadConcatFromSequence},
    {"Optional", ReadOptional},
    {"OptionalGetElement", ReadOptional},
    {"OptionalHasElement", ReadHasElement},
};
const OperatorList kSequenceOperators = kSequenceRows;

}  // namespace hearth::onnx
