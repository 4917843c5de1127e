// Operators that move elements.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "core/base/error.h"
#include "core/graph/block_scales.h"
#include "core/graph/element.h"
#include "frontends/onnx/operators.h"
#include "frontends/onnx/shared.h"
#include "frontends/writer/expansions.h"
#include "frontends/writer/rows.h"

namespace hearth::onnx {
namespace {

// A range of a dimension, resolved.
struct Range {
  int64_t begin = 0, count = 0, step = 1;
};

Result<Range> RangeOf(int64_t start, int64_t end, int64_t step, int64_t size) {
  if (step == 0) return Error(StatusCode::kMalformedInput, "a step of 0");
  // As in onnxruntime: the largest end is that of the direction.
  const bool goes_on =
      step < 0 && (end == std::numeric_limits<int32_t>::max() || end == std::numeric_limits<int64_t>::max());
  const int64_t lowest = step > 0 ? 0 : -1, highest = step > 0 ? size : size - 1;
  const auto bounded = [&](int64_t at, int64_t least) {
    return std::clamp<int64_t>(at < 0 ? at + size : at, least, std::max(least, highest));
  };
  start = bounded(start, 0);
  end = goes_on ? -1 : bounded(end, lowest);
  // A step beyond the dimension takes one element.
  const int64_t bounded_step = std::clamp<int64_t>(step, -size - 1, size + 1);
  const int64_t distance = step > 0 ? end - start : start - end, length = std::abs(bounded_step);
  const int64_t count = size == 0 || distance <= 0 ? 0 : (distance + length - 1) / length;
  return Range{count == 0 ? 0 : start, count, count <= 1 ? 1 : bounded_step};
}

// Weights of few bits, turned for a layer without becoming floats; not made for others.
Result<Tensor> TurnedForLayer(OpView& op) {
  if (!op.Has(0) || op.Ints("perm", {1, 0}) != std::vector<int64_t>{1, 0}) return Tensor();
  HEARTH_ASSIGN(const Tensor* tensor, op.scope().Read(op.node().inputs[0]));
  const ValueId stored = tensor->stored;
  if (tensor->turned != kNoValue) return Tensor{.stored = tensor->turned};
  const TensorDesc desc = stored == kNoValue ? TensorDesc() : op.to().desc(stored);
  if (!IsOfFewBits(desc) || desc.shape.rank() != 2) return Tensor();
  if (BlocksOf(desc) != nullptr) return Tensor{.turned = stored};
  HEARTH_ASSIGN(const ValueId made, AddPermuted(op.to(), stored, {1, 0}));
  return Tensor{.stored = made};
}

Results ReadTranspose(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const Tensor turned, TurnedForLayer(op));
  if (turned.is_made()) return std::vector{turned};
  HEARTH_ASSIGN(const TensorDesc desc, op.Desc(0));
  const int rank = desc.shape.rank();
  std::vector<int64_t> order(static_cast<size_t>(rank));
  std::iota(order.rbegin(), order.rend(), 0);
  order = op.Ints("perm", order);
  if (static_cast<int>(order.size()) != rank) {
    return Error(StatusCode::kMalformedInput, "{} dimensions for shape {}", order.size(), desc.shape.ToString());
  }
  const std::set<int64_t> sources(order.begin(), order.end());
  if (sources.size() != order.size()) return Error(StatusCode::kMalformedInput, "a dimension stands twice in perm");
  // From the order at hand to plain order, or to that of pictures if that is what lies there already.
  const Order from = op.OrderOf(0);
  HEARTH_ASSIGN(const ValueId x, op.In(0, from));
  Shape plain = desc.shape, last = desc.shape;
  for (int d = 0; d < rank; ++d) {
    HEARTH_ASSIGN(const int source, OpView::Axis(order[static_cast<size_t>(d)], rank));
    plain[d] = AxisIn(from, source, rank);
    if (rank >= 3) last[AxisIn(Order::kLast, d, rank)] = plain[d];
  }
  if (rank >= 3 && std::ranges::is_sorted(last.dims())) return Last(x);
  return Plain(AddPermuted(to, x, plain));
}

Results ReadConcat(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const TensorDesc desc, op.Desc(0));
  HEARTH_ASSIGN(const int axis, op.AxisOf("axis", 0, desc.shape.rank()));
  const Order order = op.CommonOrder(0, op.input_count());
  Operands parts;
  for (size_t i = 0; i < op.input_count(); ++i) parts.Append(op.In(i, order));
  HEARTH_TRY(parts.status);
  return InOrder(order, AddConcat(to, parts.ids, AxisIn(order, axis, desc.shape.rank())));
}

Results ReadSplit(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const TensorDesc desc, op.Desc(0));
  const int rank = desc.shape.rank();
  HEARTH_ASSIGN(const int axis, op.AxisOf("axis", 0, rank));
  HEARTH_ASSIGN(std::optional<std::vector<int64_t>> sizes, op.NumbersOr(1, "split"));
  const auto count = static_cast<int64_t>(op.output_count());
  if (!sizes) {
    const int64_t size = desc.shape[axis], part = (size + count - 1) / count;
    sizes.emplace();
    for (int64_t k = 0; k < count; ++k) sizes->push_back(std::clamp<int64_t>(size - k * part, 0, part));
  }
  HEARTH_TRY(CheckParts(*sizes, count, axis, desc.shape));
  const Order order = op.OrderOf(0);
  HEARTH_ASSIGN(const ValueId x, op.In(0, order));
  if (count == 1) return InOrder(order, x);
  Split split{AxisIn(order, axis, rank), {}};
  for (const int64_t size : *sizes) split.sizes.push_back(static_cast<int32_t>(size));
  const std::vector<TensorDesc> descs(sizes->size(), PlainType(desc.dtype));
  HEARTH_ASSIGN(const std::vector<ValueId> parts, to.AddSeveral(split, {x}, descs));
  return InOrder(order, parts);
}

// The ends of a Slice. `last`: which of them data make, up to a known number.
Result<std::optional<std::vector<int64_t>>> EndsOf(OpView& op, OpenDimension& last) {
  Result<std::optional<std::vector<int64_t>>> known = op.NumbersOr(2, "ends");
  if (known.ok() || !op.Has(2)) return known;
  HEARTH_ASSIGN(const ValueId list, op.In(2));
  HEARTH_ASSIGN(OpenSizes sizes, SizesIn(op.to(), list));
  last = sizes.open;
  if (last.count != kNoValue && !IsNotNegative(op.to(), list, last.dim)) return NeedsAllRows();  // counts from the end
  return std::optional(std::move(sizes.dims));
}

// The first rows of a value, as many as `end` counts. `open`: those that are valid before.
Made FirstRows(NodeWriter& to, ValueId value, const OpenDimension& open, const OpenDimension& end) {
  const int32_t most = to.shape(value)[end.dim];
  Made count = end.count;
  if (open.count != kNoValue) count = to.Add(BinaryKind::kMinimum, {open.count, end.count});
  HEARTH_ASSIGN(const ValueId number, count);
  HEARTH_ASSIGN(const ValueId rows, AddCount(to, number, most));
  return WithRows(to, value, {end.dim, rows});
}

// A Slice that begins where data say and ends a known number of elements further on; kNoValue for others.
Made PartFrom(OpView& op, NodeWriter& to, ValueId x, Order order) {
  if (op.opset() < 10 || !op.Has(1) || !op.Has(2) || HaveRows(to, {&x, 1})) return kNoValue;
  HEARTH_ASSIGN(const ValueId starts, op.In(1));
  HEARTH_ASSIGN(const ValueId ends, op.In(2));
  const int64_t count = to.shape(starts).element_count();
  if (to.IsConstant(starts) || to.shape(ends).element_count() != count) return kNoValue;
  HEARTH_ASSIGN(const auto axes, op.NumbersOr(3, "axes"));
  HEARTH_ASSIGN(const auto steps, op.NumbersOr(4, "steps"));
  if ((axes && std::ssize(*axes) != count) || (steps && std::ssize(*steps) != count)) return kNoValue;
  const Shape shape = to.shape(x);
  std::vector<Part> parts;
  for (const int32_t size : shape.dims()) parts.push_back({.count = size});
  for (int64_t k = 0; k < count; ++k) {
    HEARTH_ASSIGN(const int axis, OpView::Axis(axes ? (*axes)[static_cast<size_t>(k)] : k, shape.rank()));
    const int d = AxisIn(order, axis, shape.rank());
    const int64_t step = steps ? (*steps)[static_cast<size_t>(k)] : 1;
    const Start first = StartOf(to, starts, k), behind = StartOf(to, ends, k);
    if (first.value != behind.value || first.element != behind.element) return kNoValue;
    const bool is_known = first.value == kNoValue;
    Range range{first.offset, behind.offset - first.offset, step};
    if (is_known) {
      HEARTH_ASSIGN(range, RangeOf(first.offset, behind.offset, step, shape[d]));
    }
    if (range.count < 1 || range.count > shape[d] || range.step < 1 || (!is_known && step != 1)) return kNoValue;
    parts[static_cast<size_t>(d)] = {is_known ? Start{kNoValue, 0, range.begin} : first,
                                     static_cast<int32_t>(range.count), static_cast<int32_t>(range.step), true};
  }
  return AddPartAt(to, x, parts);
}

Results ReadSlice(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const TensorDesc desc, op.Desc(0));
  const int rank = desc.shape.rank();
  const Order order = op.OrderOf(0);
  HEARTH_ASSIGN(const ValueId x, op.In(0, order));
  HEARTH_ASSIGN(const ValueId part, PartFrom(op, to, x, order));
  if (part != kNoValue) return InOrder(order, part);
  HEARTH_ASSIGN(const auto starts, op.NumbersOr(1, "starts"));
  HEARTH_ASSIGN(const auto axes, op.NumbersOr(3, "axes"));
  HEARTH_ASSIGN(const auto steps, op.NumbersOr(4, "steps"));
  OpenDimension last;  // the end, by its place in the list, that data make
  HEARTH_ASSIGN(const auto ends, EndsOf(op, last));
  if (!starts || !ends || starts->size() != ends->size() || (axes && axes->size() != starts->size()) ||
      (steps && steps->size() != starts->size())) {
    return Error(StatusCode::kMalformedInput, "its starts, ends, axes and steps do not go together");
  }
  const Shape shape = to.shape(x);
  const OpenDimension open = to.marks().OpenOf(x);
  OpenDimension end;       // the dimension that ends where data say
  int64_t cut_behind = 0;  // at the end of the open dimension; -1 if that is not all that depends on where it ends
  Slice slice{shape, shape, shape, shape};
  for (int d = 0; d < rank; ++d) {
    slice.begin[d] = 0;
    slice.strides[d] = 1;
  }
  for (size_t k = 0; k < starts->size(); ++k) {
    HEARTH_ASSIGN(const int axis, OpView::Axis(axes ? (*axes)[k] : static_cast<int64_t>(k), rank));
    HEARTH_ASSIGN(const Range range, RangeOf((*starts)[k], (*ends)[k], steps ? (*steps)[k] : 1, desc.shape[axis]));
    const int d = AxisIn(order, axis, rank);
    if (last.count != kNoValue && last.dim == static_cast<int>(k)) {
      if ((*starts)[k] != 0 || range.step != 1 || (open.count != kNoValue && d != open.dim)) return NeedsAllRows();
      end = {d, last.count};
    }
    slice.begin[d] = static_cast<int32_t>(range.begin);
    slice.size[d] = static_cast<int32_t>(range.count);
    slice.strides[d] = static_cast<int32_t>(range.step);
    if (d != open.dim) continue;
    const int64_t start = (*starts)[k], limit = std::max<int64_t>((*ends)[k], -kMostInDimension);
    const bool is_first = start == 0 && (!steps || (*steps)[k] > 0);
    cut_behind = start < 0 || (!is_first && limit < 0) ? -1 : std::max<int64_t>(0, -limit);
  }
  slice.shape = slice.size;
  // A copy where data choose the end: how many rows are valid is said of the slice, not of what it is cut from.
  const bool takes_all = slice.size == shape && end.count == kNoValue &&
                         std::ranges::all_of(slice.strides.dims(), [](int32_t s) { return s == 1; });
  HEARTH_ASSIGN(const ValueId made, takes_all ? Made(x) : to.Add(slice, {x}));
  if (end.count != kNoValue && end != open) return Plain(FirstRows(to, made, open, end));
  if (open.count == kNoValue || made == x) return InOrder(order, KnownNumbers(to, made));
  // The first ones of rows whose number data make, or all but the last ones.
  if (slice.begin[open.dim] != 0 || slice.strides[open.dim] != 1 || cut_behind < 0) return NeedsAllRows();
  const Made left =
      cut_behind == 0
          ? Made(open.count)
          : to.Add(BinaryKind::kSub, {open.count, to.AddNumber(DType::kInt32, static_cast<double>(cut_behind))});
  HEARTH_ASSIGN(const ValueId rows, left);
  HEARTH_ASSIGN(const ValueId count, AddCount(to, rows, slice.size[open.dim]));
  return InOrder(order, AddRows(to, made, count, open.dim));
}

Results ReadDepthToSpace(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(ValueId x, op.Last(0));
  const Shape shape = to.shape(x);
  const auto block = static_cast<int32_t>(std::clamp<int64_t>(op.Int("blocksize", 0), 0, 257));
  if (shape.rank() != 4 || block < 1 || block > 256 || shape[3] % (block * block) != 0) {
    return Error(StatusCode::kMalformedInput, "blocks of {} in shape {}", block, shape.ToString());
  }
  HEARTH_ASSIGN(const size_t mode, op.Choice("mode", {"DCR", "CRD"}));
  if (mode == 1) {  // channel, then row and column in the block
    const int32_t channels = shape[3] / (block * block);
    const Made split = to.AddReshape(x, {shape[0], shape[1], shape[2], channels, block * block});
    HEARTH_ASSIGN(x, to.AddReshape(to.AddTranspose(split, {0, 1, 2, 4, 3}), shape));
  }
  return Last(block == 1 ? Made(x) : to.Add(DepthToSpace{block}, {x}));
}

Results ReadSpaceToDepth(OpView& op, GraphWriter& to) {
  const auto block = static_cast<int32_t>(std::clamp<int64_t>(op.Int("blocksize", 0), 0, 1 << 20));
  return Last(to.Add(SpaceToDepth{block}, {op.Last(0)}));
}

Results ReadReverseSequence(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const ValueId x, op.In(0));
  const int rank = to.shape(x).rank();
  HEARTH_ASSIGN(const int axis, op.AxisOf("time_axis", 0, rank));
  HEARTH_ASSIGN(const int batch, op.AxisOf("batch_axis", 1, rank));
  HEARTH_ASSIGN(const ValueId lengths, to.AddCast(op.In(1), DType::kInt32));
  return Plain(AddReverseSequence(to, x, lengths, axis, batch));
}

Results ReadTrilu(OpView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const ValueId x, op.In(0));
  const Shape shape = to.shape(x);
  if (shape.rank() < 2) return Error(StatusCode::kMalformedInput, "shape {}", shape.ToString());
  HEARTH_ASSIGN(const int64_t k, op.Has(1) ? op.Integer(1) : Result<int64_t>(0));
  const bool is_upper = op.Int("upper", 1) != 0;
  const Shape plane{shape[shape.rank() - 2], shape[shape.rank() - 1]};
  const Made stays = to.AddEach(plane, DType::kBool, [&](int64_t row, int64_t column) {
    return (is_upper ? column - row >= k : column - row <= k) ? 1.0 : 0.0;
  });
  return Plain(to.Add(Select{}, {stays, x, AddScalarLike(to, x, 0)}));
}

}  // namespace

Status CheckParts(const std::vector<int64_t>& sizes, int64_t count, int axis, const Shape& shape) {
  if (static_cast<int64_t>(sizes.size()) == count &&
      std::ranges::all_of(sizes, [&](int64_t size) { return size >= 0 && size <= shape[axis]; }) &&
      std::accumulate(sizes.begin(), sizes.end(), int64_t{0}) == shape[axis]) {
    return Status::Ok();
  }
  return Error(StatusCode::kMalformedInput, "its {} parts do not make up dimension {} of {}", sizes.size(), axis,
               shape.ToString());
}

constexpr OperatorRow kMovementRows[] = {
    {"Concat", ReadConcat},
    {"DepthToSpace", ReadDepthToSpace},
    {"ReverseSequence", ReadReverseSequence},
    {"Slice", ReadSlice},
    {"SpaceToDepth", ReadSpaceToDepth},
    {"Split", ReadSplit},
    {"Transpose", ReadTranspose},
    {"Trilu", ReadTrilu},
    {"Trilu", ReadTrilu, 0, kMicrosoft},
};
const OperatorList kMovementOperators = kMovementRows;

}  // namespace hearth::onnx
