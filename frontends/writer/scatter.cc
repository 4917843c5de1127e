#include "frontends/writer/scatter.h"

#include <algorithm>
#include <cmath>

#include "core/base/contains.h"
#include "core/base/error.h"
#include "core/graph/quantize.h"

namespace hearth {
namespace {

constexpr int64_t kMostRows = 1 << 22;

constexpr size_t kMostRowsOfOne = 64;                // rows that are added up for one index: a node each
constexpr int64_t kMostProducts = int64_t{1} << 24;  // elements of the matrix of zeros and ones
constexpr int64_t kMostTests = int64_t{1} << 16;     // comparisons of update rows with tensor rows

Status CheckRowType(const TensorDesc& desc, const Meeting& meeting, size_t most_rows_of_one) {
  const bool is_calculated =
      IsPlainFloat32(desc) || (!IsReal(desc) && (desc.dtype == DType::kInt32 || meeting.kind == BinaryKind::kAdd));
  if (is_calculated || (most_rows_of_one <= 1 && meeting.empty == 0.0)) return Status::Ok();
  return Error(StatusCode::kUnsupported, "rows of {} that share an index", DTypeName(desc.dtype));
}

}  // namespace

Result<std::vector<int64_t>> FlatPlaces(const std::vector<int64_t>& coordinates, const Shape& shape, size_t listed,
                                        int dims) {
  std::vector<int64_t> places;
  for (size_t i = 0; listed > 0 && i + listed <= coordinates.size(); i += listed) {
    int64_t place = 0;
    for (int d = 0; d < dims; ++d) {
      const int64_t at = coordinates[i + static_cast<size_t>(d)];
      if (at < 0 || at >= shape[d]) return Error(StatusCode::kMalformedInput, "place {} of {}", at, shape[d]);
      place = place * shape[d] + at;
    }
    places.push_back(place);
  }
  return places;
}

Made ComputedPlaces(NodeWriter& to, ValueId coordinates, const Shape& shape, int32_t rows, int depth) {
  if (to.IsConstant(coordinates) && to.shape(coordinates).element_count() <= kMostRows) {
    HEARTH_ASSIGN(const std::vector<int64_t> known, to.Integers(coordinates));
    std::vector<double> numbers;
    for (size_t first = 0; first + static_cast<size_t>(depth) <= known.size(); first += static_cast<size_t>(depth)) {
      double place = 0.0;
      for (int d = 0; d < depth; ++d)
        place = place * shape[d] + static_cast<double>(known[first + static_cast<size_t>(d)]);
      numbers.push_back(place);
    }
    if (static_cast<int64_t>(numbers.size()) == rows) return to.AddConstant({rows}, DType::kInt32, numbers);
  }
  std::vector<double> strides(static_cast<size_t>(depth), 1.0);
  for (int d = depth - 1; d > 0; --d) {
    strides[static_cast<size_t>(d - 1)] = strides[static_cast<size_t>(d)] * shape[d];
  }
  const Made places = to.AddReshape(to.AddCast(coordinates, DType::kInt32), {rows, depth});
  const Made scaled = to.Add(BinaryKind::kMul, {places, to.AddConstant({1, depth}, DType::kInt32, strides)});
  return to.Add(Reduce{ReduceKind::kSum, 2, false}, {scaled});
}

Made GatherRows(NodeWriter& to, ValueId rows, std::span<const int64_t> places, int64_t count, const Meeting& meeting) {
  const auto row_count = static_cast<int32_t>(places.size());
  HEARTH_TRY(to.budget().CheckRoom({static_cast<int32_t>(count)}, DType::kInt32));
  const auto combined = [&]() -> Made {
    HEARTH_TRY(CheckRowType(to.desc(rows), meeting, 0));
    const std::vector<double> numbers(places.begin(), places.end());
    HEARTH_ASSIGN(const ValueId listed, to.AddConstant({row_count}, DType::kInt32, numbers));
    return CombineRows(to, rows, listed, count, meeting);
  };
  std::vector<std::vector<double>> takes;  // the first, second, ... row for each index; one past the last row for none
  std::vector<size_t> taken(static_cast<size_t>(count), 0);
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i] < 0) continue;
    if (places[i] >= count) return Error(StatusCode::kMalformedInput, "place {} of {}", places[i], count);
    const size_t turn = taken[static_cast<size_t>(places[i])]++;
    if (turn == takes.size()) {
      if (turn == kMostRowsOfOne || static_cast<int64_t>(turn + 1) * count > kMostProducts) return combined();
      HEARTH_TRY(to.budget().CheckRoom({static_cast<int32_t>(turn + 1), static_cast<int32_t>(count)}, DType::kInt32));
      takes.emplace_back(static_cast<size_t>(count), row_count);
    }
    takes[turn][static_cast<size_t>(places[i])] = static_cast<double>(i);
  }
  if (!CheckRowType(to.desc(rows), meeting, takes.size()).ok()) return combined();
  if (takes.empty()) takes.emplace_back(static_cast<size_t>(count), row_count);
  HEARTH_ASSIGN(const ValueId with_empty, to.AddPad(rows, 0, 0, 1, meeting.empty));
  ValueId sum = kNoValue;
  for (const std::vector<double>& take : takes) {
    const Made order = to.AddConstant({static_cast<int32_t>(count)}, DType::kInt32, take);
    HEARTH_ASSIGN(const ValueId part, to.Add(Gather{}, {with_empty, order}));
    HEARTH_ASSIGN(sum, sum == kNoValue ? Made(part) : to.Add(meeting.kind, {sum, part}));
  }
  return sum;
}

Made CombineRows(NodeWriter& to, ValueId rows, ValueId places, int64_t count, const Meeting& meeting) {
  const TensorDesc desc = to.desc(rows);
  const Shape made{static_cast<int32_t>(count), desc.shape[1]};
  HEARTH_TRY(to.budget().CheckRoom(made, desc.dtype));
  const Made empty = to.AddFilled(made, to.AddConstant({desc.dtype, {1}, desc.quantization}, {meeting.empty}));
  return to.AddAs(Scatter{meeting.kind}, {empty, rows, places}, desc);
}

Made RowsOfNothing(NodeWriter& to, TensorDesc desc, const Shape& made, const Meeting& meeting) {
  HEARTH_TRY(CheckRowType(desc, meeting, 0));
  desc.shape = {1};
  return to.AddFilled(made, to.AddConstant(desc, {meeting.empty}));
}

namespace {

// `matrix`, changed by `changed` in the rows where `is_changed` (bool[rows, 1]) holds.
Made Change(NodeWriter& to, ValueId matrix, const Made& changed, const Made& is_changed,
            const std::optional<BinaryKind>& kind) {
  const Made made = kind ? to.Add(*kind, {matrix, changed}) : changed;
  return to.Add(Select{}, {is_changed, made, matrix}, to.desc(matrix).dtype);
}

// For constant indices: of rows with the same index the last one stays, or `kind` combines them.
Made ScatterToKnown(NodeWriter& to, ValueId matrix, ValueId rows, std::vector<int64_t> places,
                    const std::optional<BinaryKind>& kind) {
  const int32_t count = to.shape(matrix)[0];
  HEARTH_TRY(to.budget().CheckRoom({count, 1}, DType::kInt32));
  std::vector<double> is_changed(static_cast<size_t>(count), 0.0);
  for (auto place = places.rbegin(); place != places.rend(); ++place) {
    if (*place < 0) continue;
    if (*place >= count) return Error(StatusCode::kMalformedInput, "place {} of {}", *place, count);
    double& is_taken = is_changed[static_cast<size_t>(*place)];
    if (is_taken != 0.0 && !kind) *place = -1;
    is_taken = 1.0;
  }
  Meeting meeting;
  if (kind) meeting = {*kind, *kind == BinaryKind::kMul ? 1.0 : 0.0};
  const bool is_ordered = kind == BinaryKind::kMaximum || kind == BinaryKind::kMinimum;
  if (is_ordered) meeting.empty = kind == BinaryKind::kMaximum ? -2147483648.0 : 2147483647.0;
  if (is_ordered && to.desc(matrix).dtype == DType::kFloat32) {
    meeting.empty = kind == BinaryKind::kMaximum ? -HUGE_VAL : HUGE_VAL;
  }
  HEARTH_ASSIGN(const ValueId changed, GatherRows(to, rows, places, count, meeting));
  return Change(to, matrix, changed, to.AddConstant({count, 1}, DType::kBool, is_changed), kind);
}

// The number, from 1, of the last update for each of `count` rows; 0 for none: int32[count, 1].
Made LastRowOf(NodeWriter& to, ValueId places, int32_t count) {
  const int32_t rows = to.shape(places)[0];
  HEARTH_TRY(to.budget().CheckRoom({1, rows}, DType::kInt32));
  const Made wanted = to.AddIndices({count, 1});
  const Made is_there = to.Add(BinaryKind::kEqual, {wanted, to.AddReshape(places, {1, rows})});
  const Made ones = to.AddCast(is_there, DType::kInt32);
  const Made numbers =
      to.AddEach({1, rows}, DType::kInt32, [](int64_t, int64_t row) { return static_cast<double>(row + 1); });
  const Made each = to.Add(BinaryKind::kMul, {ones, numbers});
  return to.Add(Reduce{ReduceKind::kMax, 2, true}, {each});
}

// For computed indices without `kind`: the last update of a row stays.
Made ScatterLast(NodeWriter& to, ValueId matrix, ValueId rows, ValueId places) {
  const int32_t count = to.shape(matrix)[0];
  HEARTH_ASSIGN(const ValueId taken, LastRowOf(to, places, count));
  const Made with_none = to.AddPad(rows, 0, 1, 0);
  HEARTH_ASSIGN(const ValueId changed, to.Add(Gather{}, {with_none, to.AddReshape(taken, {count})}));
  const Made mask = to.Add(BinaryKind::kGreater, {taken, to.AddNumber(DType::kInt32, 0)});
  return Change(to, matrix, changed, mask, std::nullopt);
}

// Devices have kernels for the few updates of a cache; the host takes other ones.
Made ScatterToComputed(NodeWriter& to, ValueId matrix, ValueId rows, ValueId places,
                       const std::optional<BinaryKind>& kind) {
  const int64_t tests = int64_t{to.shape(matrix)[0]} * to.shape(rows)[0];
  if (!kind && tests <= kMostTests) return ScatterLast(to, matrix, rows, places);
  return to.AddAs(Scatter{kind}, {matrix, rows, places}, to.desc(matrix));
}

}  // namespace

Made ScatterRows(NodeWriter& to, ValueId matrix, ValueId rows, ValueId places, const std::optional<BinaryKind>& kind) {
  const bool is_calculated = !kind || CheckRowType(to.desc(rows), {*kind}, 2).ok();
  if (!to.IsConstant(places) || !is_calculated) return ScatterToComputed(to, matrix, rows, places, kind);
  HEARTH_ASSIGN(const std::vector<int64_t> known, to.Integers(places));
  return ScatterToKnown(to, matrix, rows, known, kind);
}

std::vector<double> WindowRows::Offsets(int dimension) const {
  std::vector<double> offsets;
  const int64_t inner = CountBetween(window, dimension + 1, leading), rows = per_window();
  for (int64_t row = 0; row < rows; ++row) {
    offsets.push_back(static_cast<double>(row / inner % window[dimension]));
  }
  return offsets;
}

Result<WindowRows> RowsOfWindows(const NodeWriter& to, const Shape& shape, const Shape& window,
                                 std::vector<int64_t> moved) {
  WindowRows rows{.shape = shape, .window = window, .moved = std::move(moved), .leading = shape.rank()};
  const auto is_whole = [&](int d) { return window[d] == shape[d] && !Contains(rows.moved, d); };
  while (rows.leading > 0 && is_whole(rows.leading - 1)) --rows.leading;
  int64_t count = 1;
  for (int d = 0; d < rows.leading; ++d) count = std::min(count * shape[d], kMostRows + 1);
  if (count > kMostRows) {
    return Error(StatusCode::kUnsupported, "windows of shape {} in {}", window.ToString(), shape.ToString());
  }
  HEARTH_TRY(to.budget().CheckRoom({rows.per_window()}, DType::kInt32));
  return rows;
}

Made StartsOf(NodeWriter& to, ValueId indices, int64_t axis, size_t numbers) {
  const Shape shape = to.shape(indices);
  if (shape.element_count() == 0) return Error(StatusCode::kUnsupported, "starts of shape {}", shape.ToString());
  const int64_t held = axis == shape.rank() ? 1 : (axis < shape.rank() ? shape[static_cast<int>(axis)] : -1);
  if (held != static_cast<int64_t>(numbers)) {
    return Error(StatusCode::kMalformedInput, "starts of {} numbers in dimension {} of {}", numbers, axis,
                 shape.ToString());
  }
  std::vector<int32_t> order = DimsWithout(shape.rank(), {axis});
  if (axis < shape.rank()) order.push_back(static_cast<int32_t>(axis));
  const Made turned = to.AddTranspose(to.AddCast(indices, DType::kInt32), Shape::FromSpan(order));
  return to.AddReshape(turned, {static_cast<int32_t>(shape.element_count() / held), static_cast<int32_t>(held)});
}

std::vector<int32_t> DimsWithout(int rank, const std::vector<int64_t>& without) {
  std::vector<int32_t> dims;
  for (int d = 0; d < rank; ++d) {
    if (!Contains(without, d)) dims.push_back(d);
  }
  return dims;
}

}  // namespace hearth
