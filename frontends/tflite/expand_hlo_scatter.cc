// STABLEHLO_SCATTER: windows of updates are rows that change rows of a tensor by index. Indices outside of the tensor
// change nothing.
#include <algorithm>
#include <cmath>

#include "core/base/contains.h"
#include "core/base/error.h"
#include "frontends/tflite/expand_hlo.h"
#include "frontends/tflite/expand_rows.h"
#include "frontends/tflite/window_rows.h"

namespace hearth {
namespace {

constexpr int64_t kMostInTurn = 64;               // rows that are written one after the other
constexpr int64_t kMostTests = int64_t{1} << 24;  // comparisons of update rows with tensor rows

struct ScatterForm {
  std::vector<int64_t> window_dims, inserted, moved;
  int64_t index_dim = 0;
  std::optional<BinaryKind> kind;  // none: overwrite
};

Result<ScatterForm> ScatterFormOf(Expansion& to) {
  HEARTH_ASSIGN(const auto* options, to.Options<wire::StablehloScatterOptions>());
  const int rank = to.shape(to.operand(0)).rank(), updates = to.shape(to.operand(2)).rank();
  ScatterForm form{.index_dim = options->index_vector_dim()};
  HEARTH_ASSIGN(form.window_dims, ListOfAxes(options->update_window_dims(), "window dimensions", updates));
  HEARTH_ASSIGN(form.inserted, ListOfAxes(options->inserted_window_dims(), "inserted dimensions", rank));
  HEARTH_ASSIGN(form.moved, ListOfAxes(options->scatter_dims_to_operand_dims(), "start indices", rank));
  HEARTH_ASSIGN(const auto codes, to.CodesOf(options->update_computation_subgraph_index(), 1));
  if (!codes.empty()) {
    form.kind = FunctionOf(codes[0]);
    const bool is_known = form.kind && *form.kind != BinaryKind::kLogicalAnd && *form.kind != BinaryKind::kLogicalOr;
    if (!is_known) return Error(StatusCode::kUnsupported, "its function is not a sum, product, maximum or minimum");
    HEARTH_TRY(CheckElementsOf(to.desc(to.operand(0)), *form.kind));
  }
  const bool fits = form.index_dim >= 0 && std::ranges::is_sorted(form.window_dims) &&
                    form.window_dims.size() + form.inserted.size() == static_cast<size_t>(rank);
  if (fits && to.desc(to.operand(0)).dtype == to.desc(to.operand(2)).dtype &&
      to.desc(to.operand(0)).quantization == to.desc(to.operand(2)).quantization) {
    return form;
  }
  return Error(StatusCode::kMalformedInput, "{} window and {} inserted dimensions of {}, or updates of another type",
               form.window_dims.size(), form.inserted.size(), rank);
}

Result<Shape> WindowOf(const Shape& x, const Shape& updates, const ScatterForm& form) {
  Shape window = x;
  size_t next = 0;
  for (int d = 0; d < x.rank(); ++d) {
    const bool is_inserted = Contains(form.inserted, d);
    window[d] = is_inserted ? 1 : updates[static_cast<int>(form.window_dims[next++])];
    if (window[d] <= x[d]) continue;
    return Error(StatusCode::kMalformedInput, "updates of shape {} for {}", updates.ToString(), x.ToString());
  }
  return window;
}

// The row index of each update, -1 if it is outside of the tensor: int32[rows].
Result<ValueId> PlacesOf(Expansion& to, const ScatterForm& form, const WindowRows& rows) {
  HEARTH_ASSIGN(const ValueId starts, StartsOf(to, to.operand(1), form.index_dim, form.moved.size()));
  ValueId places = kNoValue, is_inside = kNoValue;
  HEARTH_ASSIGN(const ValueId zero, to.AddNumber(DType::kInt32, 0));
  for (int d = 0; d < rows.leading; ++d) {
    HEARTH_ASSIGN(ValueId at, to.AddConstant({1, rows.per_window()}, DType::kInt32, rows.Offsets(d)));
    const auto moved = std::ranges::find(form.moved, d);
    if (moved != form.moved.end()) {
      HEARTH_ASSIGN(const ValueId start, to.AddSlice(starts, 1, static_cast<int32_t>(moved - form.moved.begin()), 1));
      HEARTH_ASSIGN(at, to.AddBinary(BinaryKind::kAdd, start, at));
      HEARTH_ASSIGN(const ValueId size, to.AddNumber(DType::kInt32, rows.shape[d]));
      HEARTH_ASSIGN(const ValueId from_zero, to.AddTest(BinaryKind::kGreaterEqual, at, zero));
      HEARTH_ASSIGN(const ValueId below, to.AddTest(BinaryKind::kLess, at, size));
      HEARTH_ASSIGN(const ValueId both, to.AddBinary(BinaryKind::kLogicalAnd, from_zero, below));
      HEARTH_ASSIGN(is_inside, is_inside == kNoValue ? Result<ValueId>(both)
                                                     : to.AddBinary(BinaryKind::kLogicalAnd, is_inside, both));
    }
    HEARTH_ASSIGN(const ValueId stride, to.AddNumber(DType::kInt32, static_cast<double>(rows.StrideOf(d))));
    HEARTH_ASSIGN(at, to.AddBinary(BinaryKind::kMul, at, stride));
    HEARTH_ASSIGN(places, places == kNoValue ? Result<ValueId>(at) : to.AddBinary(BinaryKind::kAdd, places, at));
  }
  if (is_inside == kNoValue) return Error(StatusCode::kUnsupported, "starts without numbers");
  HEARTH_ASSIGN(const ValueId outside, to.AddNumber(DType::kInt32, -1));
  HEARTH_ASSIGN(places, to.Add(Select{}, {is_inside, places, outside}, DType::kInt32));
  return to.AddReshape(places, {static_cast<int32_t>(to.shape(places).element_count())});
}

// The updates as rows, their window dimensions last.
Result<ValueId> UpdateRows(Expansion& to, const ScatterForm& form, int32_t row_elements) {
  ValueId updates = to.operand(2);
  std::vector<int32_t> order = DimsWithout(to.shape(updates).rank(), form.window_dims);
  for (const int64_t d : form.window_dims) order.push_back(static_cast<int32_t>(d));
  HEARTH_ASSIGN(updates, to.AddTranspose(updates, Shape::FromSpan(order)));
  return to.AddReshape(updates, {static_cast<int32_t>(to.shape(updates).element_count() / row_elements), row_elements});
}

// `matrix`, changed by `changed` in the rows where `is_changed` (bool[rows, 1]) holds.
Result<ValueId> Change(Expansion& to, ValueId matrix, ValueId changed, ValueId is_changed,
                       const std::optional<BinaryKind>& kind) {
  if (kind) {
    HEARTH_ASSIGN(changed, to.AddBinary(*kind, matrix, changed));
  }
  return to.Add(Select{}, {is_changed, changed, matrix}, to.desc(matrix).dtype);
}

// For constant indices: of rows with the same index the last one stays, or `kind` combines them.
Result<ValueId> ScatterToKnown(Expansion& to, ValueId matrix, ValueId rows, std::vector<int64_t> places,
                               const std::optional<BinaryKind>& kind) {
  const int32_t count = to.shape(matrix)[0];
  HEARTH_TRY(to.CheckRoom({count, 1}, DType::kInt32));
  std::vector<double> is_changed(static_cast<size_t>(count), 0.0);
  for (auto place = places.rbegin(); place != places.rend(); ++place) {
    if (*place < 0) continue;
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
  HEARTH_ASSIGN(const ValueId mask, to.AddConstant({count, 1}, DType::kBool, is_changed));
  return Change(to, matrix, changed, mask, kind);
}

// The number, from 1, of the last update for each of `count` rows; 0 for none: int32[count, 1].
Result<ValueId> LastRowOf(Expansion& to, ValueId places, int32_t count) {
  const int32_t rows = to.shape(places)[0];
  HEARTH_TRY(to.CheckRoom({1, rows}, DType::kInt32));
  HEARTH_ASSIGN(const ValueId wanted, to.AddIndices({count, 1}));
  HEARTH_ASSIGN(const ValueId lying, to.AddReshape(places, {1, rows}));
  HEARTH_ASSIGN(const ValueId is_there, to.AddTest(BinaryKind::kEqual, wanted, lying));
  HEARTH_ASSIGN(const ValueId ones, to.Add(Cast{DType::kInt32}, {is_there}, DType::kInt32));
  std::vector<double> numbers;
  for (int32_t row = 0; row < rows; ++row) numbers.push_back(row + 1);
  HEARTH_ASSIGN(const ValueId numbered, to.AddConstant({1, rows}, DType::kInt32, numbers));
  HEARTH_ASSIGN(const ValueId each, to.AddBinary(BinaryKind::kMul, ones, numbered));
  return to.Add(Reduce{ReduceKind::kMax, 2, true}, {each});
}

// For computed indices without `kind`: the last update of a row stays.
Result<ValueId> ScatterLast(Expansion& to, ValueId matrix, ValueId rows, ValueId places) {
  const int32_t count = to.shape(matrix)[0];
  HEARTH_ASSIGN(const ValueId taken, LastRowOf(to, places, count));
  HEARTH_ASSIGN(const ValueId with_none, to.AddPad(rows, 0, 1, 0));
  HEARTH_ASSIGN(const ValueId list, to.AddReshape(taken, {count}));
  HEARTH_ASSIGN(const ValueId changed, to.Add(Gather{}, {with_none, list}));
  HEARTH_ASSIGN(const ValueId zero, to.AddNumber(DType::kInt32, 0));
  HEARTH_ASSIGN(const ValueId mask, to.AddTest(BinaryKind::kGreater, taken, zero));
  return Change(to, matrix, changed, mask, std::nullopt);
}

// For computed indices and few updates: applies them one after the other.
Result<ValueId> ScatterInTurn(Expansion& to, ValueId matrix, ValueId rows, ValueId places, BinaryKind kind) {
  const int32_t count = to.shape(rows)[0];
  HEARTH_TRY(to.ChargeOperators(5 * int64_t{count}));
  HEARTH_ASSIGN(const ValueId wanted, to.AddIndices({to.shape(matrix)[0], 1}));
  for (int32_t row = 0; row < count; ++row) {
    HEARTH_ASSIGN(const ValueId place, to.AddSlice(places, 0, row, 1));
    HEARTH_ASSIGN(const ValueId update, to.AddSlice(rows, 0, row, 1));
    HEARTH_ASSIGN(const ValueId mask, to.AddTest(BinaryKind::kEqual, wanted, place));
    HEARTH_ASSIGN(matrix, Change(to, matrix, update, mask, kind));
  }
  return matrix;
}

Result<ValueId> ScatterToComputed(Expansion& to, ValueId matrix, ValueId rows, ValueId places,
                                  const std::optional<BinaryKind>& kind) {
  const int64_t count = to.shape(matrix)[0], updates = to.shape(rows)[0];
  if (kind && updates <= kMostInTurn) return ScatterInTurn(to, matrix, rows, places, *kind);
  if (count * updates > kMostTests) {
    return Error(StatusCode::kUnsupported, "indices of {} rows in {} that are computed at run time", updates, count);
  }
  if (!kind) return ScatterLast(to, matrix, rows, places);
  if (*kind != BinaryKind::kAdd) {
    return Error(StatusCode::kUnsupported, "indices of more than {} rows that are computed at run time", kMostInTurn);
  }
  HEARTH_ASSIGN(const ValueId sums, SumRowsByProduct(to, rows, places, count));
  return to.AddBinary(BinaryKind::kAdd, matrix, sums);
}

}  // namespace

// (x, starts, updates)
Expanded ExpandHloScatter(Expansion& to) {
  if (to.IsEmpty(to.operand(2))) return std::vector<ValueId>{to.operand(0)};
  HEARTH_ASSIGN(const ScatterForm form, ScatterFormOf(to));
  const Shape x = to.shape(to.operand(0));
  HEARTH_ASSIGN(const Shape window, WindowOf(x, to.shape(to.operand(2)), form));
  HEARTH_ASSIGN(const WindowRows windows, RowsOfWindows(to, x, window, form.moved));
  HEARTH_ASSIGN(const ValueId places, PlacesOf(to, form, windows));
  HEARTH_ASSIGN(const ValueId rows, UpdateRows(to, form, windows.row_elements()));
  if (to.shape(rows)[0] != to.shape(places)[0]) {
    return Error(StatusCode::kMalformedInput, "{} rows of updates for {} places", to.shape(rows)[0],
                 to.shape(places)[0]);
  }
  HEARTH_ASSIGN(ValueId matrix, to.AddReshape(to.operand(0), {windows.count(), windows.row_elements()}));
  if (to.IsConstant(places)) {
    HEARTH_ASSIGN(const std::vector<int64_t> known, to.IntegersOf(places));
    HEARTH_ASSIGN(matrix, ScatterToKnown(to, matrix, rows, known, form.kind));
  } else {
    HEARTH_ASSIGN(matrix, ScatterToComputed(to, matrix, rows, places, form.kind));
  }
  return OneValue(to.AddReshape(matrix, x));
}

}  // namespace hearth
