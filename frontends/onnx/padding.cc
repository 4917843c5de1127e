// Operators that put elements around others, or take edges off.
#include <algorithm>
#include <numeric>

#include "core/base/error.h"
#include "frontends/onnx/operators.h"
#include "frontends/writer/expansions.h"
#include "frontends/writer/rows.h"

namespace hearth::onnx {
namespace {

enum class PadKind : uint8_t { kConstant, kReflect, kEdge, kWrap };

// The element that padding shows at `at`, which may lie outside of the dimension.
int64_t PaddedFrom(PadKind kind, int64_t at, int64_t size) {
  if (kind == PadKind::kEdge) return std::clamp<int64_t>(at, 0, size - 1);
  const int64_t period = kind == PadKind::kWrap || size == 1 ? size : 2 * (size - 1);
  const int64_t within = ((at % period) + period) % period;
  return within < size ? within : period - within;
}

Made PadAxis(NodeWriter& to, const Made& x, int axis, int64_t before, int64_t after, PadKind kind) {
  HEARTH_TRY(x.status());
  if (before == 0 && after == 0) return x;
  // What negative padding takes away is not shown elsewhere either.
  const int64_t first = std::max<int64_t>(-before, 0), made = to.shape(*x)[axis] + before + after;
  const int64_t size = to.shape(*x)[axis] - first - std::max<int64_t>(-after, 0);
  if (size < 1 || made < 0 || made > (1 << 24)) {
    return Error(StatusCode::kMalformedInput, "{} elements padded by {} and {}", size, before, after);
  }
  const Made places = to.AddEach({static_cast<int32_t>(made)}, DType::kInt32, [&](int64_t, int64_t k) {
    return static_cast<double>(first + PaddedFrom(kind, k - std::max<int64_t>(before, 0), size));
  });
  return to.Add(Gather{axis, 0}, {x, places});
}

// A tensor whose rows data make, along dimension `d`, with rows of a number before and after it.
Made RowsBetween(NodeWriter& to, ValueId x, int d, int64_t before, int64_t after, double number) {
  std::vector<ValueId> parts;
  const auto fill = [&](int64_t count) -> Status {
    if (count == 0) return Status::Ok();
    Shape shape = to.shape(x);
    shape[d] = static_cast<int32_t>(count);
    HEARTH_ASSIGN(const ValueId rows, to.AddFilled(shape, AddScalarLike(to, x, number)));
    parts.push_back(rows);
    return Status::Ok();
  };
  HEARTH_TRY(fill(before));
  parts.push_back(x);
  HEARTH_TRY(fill(after));
  return AddConcat(to, parts, d);
}

// `x` with padding behind its rows, if data make both but always as many together, and nothing else is padded;
// kNoValue otherwise. `at` is the rows' place among the padded `axes`.
Made FilledUp(NodeWriter& to, ValueId x, const Made& pads, int64_t axes, int64_t at, double number) {
  const OpenDimension open = to.marks().OpenOf(x);
  HEARTH_TRY(pads.status());
  const bool is_computed = !to.IsConstant(*pads) && to.shape(*pads).element_count() == 2 * axes && at < axes;
  const std::optional<double> total = is_computed ? ConstantSum(to, open.count, *pads, axes + at) : std::nullopt;
  if (!total || *total < 1 || *total > (1 << 24) || to.desc(x).quantization) return kNoValue;
  for (int64_t k = 0; k < 2 * axes; ++k) {
    if (k != axes + at && ConstantIn(to, *pads, k) != 0.0) return kNoValue;
  }
  const size_t first_node = to.graph().nodes().size();
  HEARTH_ASSIGN(const ValueId filled, FillRows(to, x, open, AddScalarLike(to, x, number)));
  const auto added = static_cast<int64_t>(*total) - to.shape(x)[open.dim];
  HEARTH_ASSIGN(const ValueId made, AddEdges(to, filled, open.dim, 0, added, number));
  CloseRows(to, first_node);
  return made;
}

Results ReadPad(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const TensorDesc desc, op.Desc(0));
  const int rank = desc.shape.rank();
  std::vector<int64_t> axes(static_cast<size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  if (op.Has(3)) {
    HEARTH_ASSIGN(axes, op.Numbers(3));
  }
  HEARTH_ASSIGN(const size_t mode, op.Choice("mode", {"constant", "reflect", "edge", "wrap"}));
  const auto kind = static_cast<PadKind>(mode);
  const double of_attribute = op.Float("value", 0.0);
  HEARTH_ASSIGN(const double number, op.Has(2) ? op.Number(2) : Result<double>(of_attribute));
  const Order order = op.OrderOf(0);
  Made x = op.In(0, order);
  HEARTH_TRY(x.status());
  const OpenDimension open = to.marks().OpenOf(*x);
  if (kind == PadKind::kConstant && open.count != kNoValue && op.Has(1)) {
    const auto listed = std::ranges::find_if(axes, [&](int64_t axis) {
      return AxisIn(order, static_cast<int>(axis < 0 ? axis + rank : axis), rank) == open.dim;
    });
    HEARTH_ASSIGN(const ValueId filled, FilledUp(to, *x, op.In(1), std::ssize(axes), listed - axes.begin(), number));
    if (filled != kNoValue) return InOrder(order, filled);
  }
  HEARTH_ASSIGN(const auto pads, op.NumbersOr(1, "pads"));
  if (!pads || pads->size() != 2 * axes.size()) {
    return Error(StatusCode::kMalformedInput, "{} paddings for {} dimensions", pads ? pads->size() : 0, axes.size());
  }
  Pad added{to.shape(*x), to.shape(*x), number};
  for (int d = 0; d < rank; ++d) added.before[d] = added.after[d] = 0;
  constexpr int64_t kMost = int64_t{1} << 30;
  for (size_t k = 0; k < axes.size(); ++k) {
    HEARTH_ASSIGN(const int axis, OpView::Axis(axes[k], rank));
    const int64_t before = (*pads)[k], after = (*pads)[k + axes.size()];
    if (std::max(before, after) > kMost || std::min(before, after) < -kMost) {
      return Error(StatusCode::kMalformedInput, "paddings of {} and {}", before, after);
    }
    const int d = AxisIn(order, axis, rank);
    if (open.IsAt(d) && (before != 0 || after != 0)) {
      if (kind != PadKind::kConstant || std::min(before, after) < 0) return NeedsAllRows();
      x = RowsBetween(to, *x, d, before, after, number);
      HEARTH_TRY(x.status());
      continue;
    }
    if (kind != PadKind::kConstant) {
      x = PadAxis(to, x, d, before, after, kind);
      continue;
    }
    added.before[d] = static_cast<int32_t>(std::max<int64_t>(before, 0));
    added.after[d] = static_cast<int32_t>(std::max<int64_t>(after, 0));
    // What is cut off is cut off first.
    x = AddEdges(to, *x, d, std::min<int64_t>(before, 0), std::min<int64_t>(after, 0), number);
    HEARTH_TRY(x.status());
  }
  const auto is_zero = [](int32_t n) { return n == 0; };
  if (std::ranges::all_of(added.before.dims(), is_zero) && std::ranges::all_of(added.after.dims(), is_zero)) {
    return InOrder(order, x);
  }
  return InOrder(order, to.Add(added, {x}));
}

// The middle of each dimension, or zeros around it; an odd element lies behind.
Results ReadCenterCropPad(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const ValueId x, op.In(0));
  const int rank = to.shape(x).rank();
  HEARTH_ASSIGN(const std::vector<int64_t> sizes, op.Numbers(1));
  std::vector<int64_t> axes(static_cast<size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  axes = op.Ints("axes", axes);
  if (axes.size() != sizes.size())
    return Error(StatusCode::kMalformedInput, "{} sizes for {} dimensions", sizes.size(), axes.size());
  Made made = x;
  for (size_t k = 0; k < axes.size(); ++k) {
    HEARTH_ASSIGN(const ValueId now, made);
    HEARTH_ASSIGN(const int axis, OpView::Axis(axes[k], rank));
    if (sizes[k] < 0 || sizes[k] > kMostInDimension)
      return Error(StatusCode::kMalformedInput, "a size of {}", sizes[k]);
    if (to.marks().OpenOf(x).IsAt(axis)) return NeedsAllRows();
    const int64_t added = sizes[k] - to.shape(now)[axis];
    const int64_t before = added < 0 ? -(-added / 2) : added / 2;
    made = AddEdges(to, now, axis, before, added - before, 0.0);
  }
  return Plain(made);
}

}  // namespace

constexpr OperatorRow kPaddingRows[] = {{"CenterCropPad", ReadCenterCropPad}, {"Pad", ReadPad}};
const OperatorList kPaddingOperators = kPaddingRows;

}  // namespace hearth::onnx
