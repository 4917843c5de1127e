// STABLEHLO_GATHER clamps windows into the tensor, and reads them as rows by one GATHER. STABLEHLO_SCATTER's windows of
// updates are rows that change rows of a tensor by index; indices outside of the tensor change nothing.
#include <algorithm>

#include "core/base/contains.h"
#include "core/base/error.h"
#include "frontends/tflite/expand_hlo.h"
#include "frontends/writer/scatter.h"

namespace hearth {
namespace {

struct GatherForm {
  std::vector<int64_t> offset_dims, collapsed, moved;
  int64_t index_dim = 0;
  Shape window;
};

Result<GatherForm> GatherFormOf(const OperatorView& op) {
  HEARTH_ASSIGN(const auto* options, op.Options<wire::StablehloGatherOptions>());
  const Shape& x = op.shape(0);
  GatherForm form{.index_dim = options->index_vector_dim()};
  HEARTH_ASSIGN(form.offset_dims, ListOfAxes(options->offset_dims(), "offset dimensions", Shape::kMaxRank));
  HEARTH_ASSIGN(form.collapsed, ListOfAxes(options->collapsed_slice_dims(), "collapsed dimensions", x.rank()));
  HEARTH_ASSIGN(form.moved, ListOfAxes(options->start_index_map(), "start indices", x.rank()));
  HEARTH_ASSIGN(const auto sizes, ListOfDims(options->slice_sizes(), "slice sizes", 0, x.rank()));
  form.window = x;
  for (int d = 0; d < x.rank(); ++d) {
    const int64_t size = sizes[static_cast<size_t>(d)];
    const bool is_collapsed = Contains(form.collapsed, d);
    if (size > x[d] || (is_collapsed && size != 1)) {
      return Error(StatusCode::kMalformedInput, "slices of {} in dimension {} of {}", size, d, x.ToString());
    }
    form.window[d] = static_cast<int32_t>(size);
  }
  const bool are_sorted = std::ranges::is_sorted(form.offset_dims);
  const size_t kept = static_cast<size_t>(x.rank()) - form.collapsed.size();
  if (form.index_dim >= 0 && are_sorted && form.offset_dims.size() == kept) return form;
  return Error(StatusCode::kMalformedInput, "index dimension {}, {} offset dimensions for {}", form.index_dim,
               form.offset_dims.size(), kept);
}

// The row index of each window's first element: int32[starts, 1].
Made FirstRows(NodeWriter& to, ValueId indices, const GatherForm& form, const WindowRows& rows) {
  HEARTH_ASSIGN(const ValueId starts, StartsOf(to, indices, form.index_dim, form.moved.size()));
  std::vector<double> last, strides;
  for (const int64_t d : form.moved) {
    const int dimension = static_cast<int>(d);
    last.push_back(rows.shape[dimension] - rows.window[dimension]);
    strides.push_back(static_cast<double>(rows.StrideOf(dimension)));
  }
  const Shape list = {1, static_cast<int32_t>(form.moved.size())};
  const Made low = to.Add(BinaryKind::kMinimum, {starts, to.AddConstant(list, DType::kInt32, last)});
  const Made inside = to.Add(BinaryKind::kMaximum, {low, to.AddNumber(DType::kInt32, 0)});
  const Made scaled = to.Add(BinaryKind::kMul, {inside, to.AddConstant(list, DType::kInt32, strides)});
  return to.Add(Reduce{ReduceKind::kSum, 2, true}, {scaled});
}

// Moves the windows' kept dimensions to `offset_dims`, and the dimensions of the starts to the others.
Made Arrange(NodeWriter& to, const Made& made, const Shape& indices, const GatherForm& form) {
  std::vector<int32_t> dims;
  for (const int32_t d : DimsWithout(indices.rank(), {form.index_dim})) dims.push_back(indices[d]);
  const auto batch = static_cast<int32_t>(dims.size());
  for (const int32_t d : DimsWithout(form.window.rank(), form.collapsed)) dims.push_back(form.window[d]);
  if (dims.size() > Shape::kMaxRank) return Error(StatusCode::kUnsupported, "a result of rank {}", dims.size());
  std::vector<int32_t> order;
  int32_t next_batch = 0, next_offset = batch;
  for (size_t d = 0; d < dims.size(); ++d) {
    const bool is_offset = Contains(form.offset_dims, static_cast<int64_t>(d));
    order.push_back(is_offset ? next_offset++ : next_batch++);
  }
  if (next_batch != batch) return Error(StatusCode::kMalformedInput, "offset dimensions beyond the result's rank");
  return to.AddTranspose(to.AddReshape(made, Shape::FromSpan(dims)), Shape::FromSpan(order));
}

struct ScatterForm {
  std::vector<int64_t> window_dims, inserted, moved;
  int64_t index_dim = 0;
  std::optional<BinaryKind> kind;  // none: overwrite
};

Result<ScatterForm> ScatterFormOf(const OperatorView& op) {
  HEARTH_ASSIGN(const auto* options, op.Options<wire::StablehloScatterOptions>());
  const int rank = op.shape(0).rank(), updates = op.shape(2).rank();
  ScatterForm form{.index_dim = options->index_vector_dim()};
  HEARTH_ASSIGN(form.window_dims, ListOfAxes(options->update_window_dims(), "window dimensions", updates));
  HEARTH_ASSIGN(form.inserted, ListOfAxes(options->inserted_window_dims(), "inserted dimensions", rank));
  HEARTH_ASSIGN(form.moved, ListOfAxes(options->scatter_dims_to_operand_dims(), "start indices", rank));
  HEARTH_ASSIGN(const auto codes, op.CodesOf(options->update_computation_subgraph_index(), 1));
  if (!codes.empty()) {
    form.kind = FunctionOf(codes[0]);
    const bool is_known = form.kind && *form.kind != BinaryKind::kLogicalAnd && *form.kind != BinaryKind::kLogicalOr;
    if (!is_known) return Error(StatusCode::kUnsupported, "its function is not a sum, product, maximum or minimum");
    HEARTH_TRY(CheckElementsOf(op.desc(0), *form.kind));
  }
  const bool fits = form.index_dim >= 0 && std::ranges::is_sorted(form.window_dims) &&
                    form.window_dims.size() + form.inserted.size() == static_cast<size_t>(rank);
  if (fits && op.desc(0).dtype == op.desc(2).dtype && op.desc(0).quantization == op.desc(2).quantization) {
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
Made PlacesOf(NodeWriter& to, ValueId indices, const ScatterForm& form, const WindowRows& rows) {
  HEARTH_ASSIGN(const ValueId starts, StartsOf(to, indices, form.index_dim, form.moved.size()));
  ValueId places = kNoValue, is_inside = kNoValue;
  const Made zero = to.AddNumber(DType::kInt32, 0);
  const auto join = [&](BinaryKind kind, ValueId before, const Made& next) {
    return before == kNoValue ? next : to.Add(kind, {before, next});
  };
  for (int d = 0; d < rows.leading; ++d) {
    Made at = to.AddConstant({1, rows.per_window()}, DType::kInt32, rows.Offsets(d));
    const auto moved = std::ranges::find(form.moved, d);
    if (moved != form.moved.end()) {
      at = to.Add(BinaryKind::kAdd, {to.AddSlice(starts, 1, static_cast<int32_t>(moved - form.moved.begin()), 1), at});
      const Made from_zero = to.Add(BinaryKind::kGreaterEqual, {at, zero});
      const Made below = to.Add(BinaryKind::kLess, {at, to.AddNumber(DType::kInt32, rows.shape[d])});
      const Made both = to.Add(BinaryKind::kLogicalAnd, {from_zero, below});
      HEARTH_ASSIGN(is_inside, join(BinaryKind::kLogicalAnd, is_inside, both));
    }
    const Made stride = to.AddNumber(DType::kInt32, static_cast<double>(rows.StrideOf(d)));
    const Made scaled = to.Add(BinaryKind::kMul, {at, stride});
    HEARTH_ASSIGN(places, join(BinaryKind::kAdd, places, scaled));
  }
  if (is_inside == kNoValue) return Error(StatusCode::kUnsupported, "starts without numbers");
  const Made outside = to.AddNumber(DType::kInt32, -1);
  HEARTH_ASSIGN(places, to.Add(Select{}, {is_inside, places, outside}, DType::kInt32));
  return to.AddReshape(places, {static_cast<int32_t>(to.shape(places).element_count())});
}

// The updates as rows, their window dimensions last.
Made UpdateRows(NodeWriter& to, ValueId updates, const ScatterForm& form, int32_t row_elements) {
  std::vector<int32_t> order = DimsWithout(to.shape(updates).rank(), form.window_dims);
  for (const int64_t d : form.window_dims) order.push_back(static_cast<int32_t>(d));
  const auto rows = static_cast<int32_t>(to.shape(updates).element_count() / row_elements);
  return to.AddReshape(to.AddTranspose(updates, Shape::FromSpan(order)), {rows, row_elements});
}

}  // namespace

// (x, starts)
Expanded ExpandHloGather(OperatorView& op, GraphWriter& to) {
  HEARTH_ASSIGN(const GatherForm form, GatherFormOf(op));
  const Shape x = op.shape(0), indices = op.shape(1);
  const bool takes_none = to.IsEmpty(op.operand(1)) && !form.moved.empty();
  if (form.window.element_count() == 0 || takes_none) {
    TensorDesc none = op.desc(0);
    none.shape = {0};
    return OneValue(Arrange(to, to.AddConstant(none, {}), indices, form));
  }
  HEARTH_ASSIGN(const WindowRows rows, RowsOfWindows(to, x, form.window, form.moved));
  const Made first = FirstRows(to, op.operand(1), form, rows);
  std::vector<double> offsets(static_cast<size_t>(rows.per_window()), 0.0);
  for (int d = 0; d < rows.leading; ++d) {
    const std::vector<double> of_dimension = rows.Offsets(d);
    for (size_t k = 0; k < offsets.size(); ++k) {
      offsets[k] += of_dimension[k] * static_cast<double>(rows.StrideOf(d));
    }
  }
  const Made in_window = to.AddConstant({1, rows.per_window()}, DType::kInt32, offsets);
  HEARTH_ASSIGN(const ValueId places, to.Add(BinaryKind::kAdd, {first, in_window}));
  const Made list = to.AddReshape(places, {static_cast<int32_t>(to.shape(places).element_count())});
  const Made matrix = to.AddReshape(op.operand(0), {rows.count(), rows.row_elements()});
  return OneValue(Arrange(to, to.Add(Gather{}, {matrix, list}), indices, form));
}

// (x, starts, updates)
Expanded ExpandHloScatter(OperatorView& op, GraphWriter& to) {
  if (to.IsEmpty(op.operand(2))) return std::vector<ValueId>{op.operand(0)};
  HEARTH_ASSIGN(const ScatterForm form, ScatterFormOf(op));
  const Shape x = op.shape(0);
  HEARTH_ASSIGN(const Shape window, WindowOf(x, op.shape(2), form));
  HEARTH_ASSIGN(const WindowRows windows, RowsOfWindows(to, x, window, form.moved));
  HEARTH_ASSIGN(const ValueId places, PlacesOf(to, op.operand(1), form, windows));
  HEARTH_ASSIGN(const ValueId rows, UpdateRows(to, op.operand(2), form, windows.row_elements()));
  if (to.shape(rows)[0] != to.shape(places)[0]) {
    return Error(StatusCode::kMalformedInput, "{} rows of updates for {} places", to.shape(rows)[0],
                 to.shape(places)[0]);
  }
  HEARTH_ASSIGN(const ValueId matrix, to.AddReshape(op.operand(0), {windows.count(), windows.row_elements()}));
  return OneValue(to.AddReshape(ScatterRows(to, matrix, rows, places, form.kind), x));
}

}  // namespace hearth
