#include <algorithm>

#include "core/base/error.h"
#include "frontends/writer/expansions.h"

namespace hearth {
namespace {

Status CheckSize(int64_t size) {
  if (size >= 1 && size <= kMostInDimension) return Status::Ok();
  return Error(StatusCode::kUnsupported, "a dimension of {} elements", size);
}

// Whether the number leaves the result of `kind` unchanged.
bool IsNeutral(BinaryKind kind, double number) {
  return (kind == BinaryKind::kAdd && number == 0.0) || (kind == BinaryKind::kMul && number == 1.0) ||
         (kind == BinaryKind::kLogicalAnd && number != 0.0) || (kind == BinaryKind::kLogicalOr && number == 0.0);
}

Made ReduceDimension(NodeWriter& to, ValueId value, int axis, const Windows& windows) {
  const auto d = static_cast<size_t>(axis);
  const int64_t reach = (windows.sizes[d] - 1) * windows.dilations[d] + 1, size = to.shape(value)[axis];
  if (reach > size && size > 0) return Error(StatusCode::kUnsupported, "windows of {} in {} elements", reach, size);
  const auto count = static_cast<int32_t>(size == 0 ? 0 : (size - reach) / windows.strides[d] + 1);
  if (count == 0) return value;
  HEARTH_TRY(to.budget().ChargeOperators(2 * windows.sizes[d]));
  ValueId reduced = kNoValue;
  for (int64_t k = 0; k < windows.sizes[d]; ++k) {
    HEARTH_ASSIGN(const ValueId part, to.AddSlice(value, axis, static_cast<int32_t>(k * windows.dilations[d]), count,
                                                  static_cast<int32_t>(windows.strides[d])));
    HEARTH_ASSIGN(reduced, reduced == kNoValue ? Made(part) : to.Add(windows.kind, {reduced, part}));
  }
  return reduced;
}

}  // namespace

Made AddBetween(NodeWriter& to, ValueId value, int axis, int64_t between, double number) {
  Shape shape = to.shape(value);
  const int32_t size = shape[axis];
  if (between == 0 || size <= 1) return value;
  const int64_t spread = (size - 1) * (between + 1) + 1;
  HEARTH_TRY(CheckSize(spread + between));
  if (to.IsEmpty(value)) {
    shape[axis] = static_cast<int32_t>(spread);
    return to.AddReshape(value, shape);
  }
  const int64_t inner = CountBetween(shape, axis + 1, shape.rank());
  HEARTH_TRY(CheckSize(inner));
  const int64_t lines = shape.element_count() / inner, outer = lines / size;
  HEARTH_TRY(CheckSize(lines));
  const auto width = static_cast<int32_t>(inner);
  const Made column = to.AddReshape(value, {static_cast<int32_t>(lines), 1, width});
  const Made padded = to.AddPad(column, 1, 0, static_cast<int32_t>(between), number);
  const Made joined =
      to.AddReshape(padded, {static_cast<int32_t>(outer), static_cast<int32_t>(spread + between), width});
  shape[axis] = static_cast<int32_t>(spread);
  return to.AddReshape(to.AddSlice(joined, 1, 0, static_cast<int32_t>(spread)), shape);
}

Made AddEdges(NodeWriter& to, ValueId value, int axis, int64_t before, int64_t after, double number) {
  const int64_t cut_before = std::max<int64_t>(0, -before), cut_after = std::max<int64_t>(0, -after);
  const int64_t kept = to.shape(value)[axis] - cut_before - cut_after;
  if (kept < 0) return Error(StatusCode::kUnsupported, "it cuts off more than all of dimension {}", axis);
  const int64_t made = kept + std::max<int64_t>(0, before) + std::max<int64_t>(0, after);
  if (made > 0) HEARTH_TRY(CheckSize(made));
  const Made cut = to.AddSlice(value, axis, static_cast<int32_t>(cut_before), static_cast<int32_t>(kept));
  return to.AddPad(cut, axis, static_cast<int32_t>(std::max<int64_t>(0, before)),
                   static_cast<int32_t>(std::max<int64_t>(0, after)), number);
}

Made ReduceWindows(NodeWriter& to, ValueId value, const Windows& windows, double first) {
  for (int d = 0; d < to.shape(value).rank(); ++d) {
    HEARTH_ASSIGN(value, ReduceDimension(to, value, d, windows));
  }
  if (IsNeutral(windows.kind, first)) return value;
  return to.Add(windows.kind, {value, to.AddNumber(to.desc(value).dtype, first)});
}

}  // namespace hearth
