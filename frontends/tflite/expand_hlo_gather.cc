// STABLEHLO_GATHER: clamps windows into the tensor, and reads them as rows by one GATHER.
#include <algorithm>

#include "core/base/contains.h"
#include "core/base/error.h"
#include "frontends/tflite/expand_hlo.h"
#include "frontends/tflite/window_rows.h"

namespace hearth {
namespace {

struct GatherForm {
  std::vector<int64_t> offset_dims, collapsed, moved;
  int64_t index_dim = 0;
  Shape window;
};

Result<GatherForm> GatherFormOf(Expansion& to) {
  HEARTH_ASSIGN(const auto* options, to.Options<wire::StablehloGatherOptions>());
  const Shape& x = to.shape(to.operand(0));
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
Result<ValueId> FirstRows(Expansion& to, const GatherForm& form, const WindowRows& rows) {
  HEARTH_ASSIGN(ValueId starts, StartsOf(to, to.operand(1), form.index_dim, form.moved.size()));
  std::vector<double> last, strides;
  for (const int64_t d : form.moved) {
    const int dimension = static_cast<int>(d);
    last.push_back(rows.shape[dimension] - rows.window[dimension]);
    strides.push_back(static_cast<double>(rows.StrideOf(dimension)));
  }
  const Shape list = {1, static_cast<int32_t>(form.moved.size())};
  HEARTH_ASSIGN(const ValueId most, to.AddConstant(list, DType::kInt32, last));
  HEARTH_ASSIGN(const ValueId by, to.AddConstant(list, DType::kInt32, strides));
  HEARTH_ASSIGN(const ValueId zero, to.AddNumber(DType::kInt32, 0));
  HEARTH_ASSIGN(starts, to.AddBinary(BinaryKind::kMinimum, starts, most));
  HEARTH_ASSIGN(starts, to.AddBinary(BinaryKind::kMaximum, starts, zero));
  HEARTH_ASSIGN(starts, to.AddBinary(BinaryKind::kMul, starts, by));
  return to.Add(Reduce{ReduceKind::kSum, 2, true}, {starts});
}

// Moves the windows' kept dimensions to `offset_dims`, and the dimensions of the starts to the others.
Result<ValueId> Arrange(Expansion& to, ValueId made, const GatherForm& form) {
  const Shape& indices = to.shape(to.operand(1));
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
  HEARTH_ASSIGN(made, to.AddReshape(made, Shape::FromSpan(dims)));
  return to.AddTranspose(made, Shape::FromSpan(order));
}

}  // namespace

// (x, starts)
Expanded ExpandHloGather(Expansion& to) {
  HEARTH_ASSIGN(const GatherForm form, GatherFormOf(to));
  const Shape x = to.shape(to.operand(0));
  const bool takes_none = to.IsEmpty(to.operand(1)) && !form.moved.empty();
  if (form.window.element_count() == 0 || takes_none) {
    TensorDesc none = to.desc(to.operand(0));
    none.shape = {0};
    HEARTH_ASSIGN(const ValueId nothing, to.AddConstant(none, {}));
    return OneValue(Arrange(to, nothing, form));
  }
  HEARTH_ASSIGN(const WindowRows rows, RowsOfWindows(to, x, form.window, form.moved));
  HEARTH_ASSIGN(ValueId places, FirstRows(to, form, rows));
  std::vector<double> offsets(static_cast<size_t>(rows.per_window()), 0.0);
  for (int d = 0; d < rows.leading; ++d) {
    const std::vector<double> of_dimension = rows.Offsets(d);
    for (size_t k = 0; k < offsets.size(); ++k) {
      offsets[k] += of_dimension[k] * static_cast<double>(rows.StrideOf(d));
    }
  }
  HEARTH_ASSIGN(const ValueId in_window, to.AddConstant({1, rows.per_window()}, DType::kInt32, offsets));
  HEARTH_ASSIGN(places, to.AddBinary(BinaryKind::kAdd, places, in_window));
  HEARTH_ASSIGN(places, to.AddReshape(places, {static_cast<int32_t>(to.shape(places).element_count())}));
  HEARTH_ASSIGN(const ValueId matrix, to.AddReshape(to.operand(0), {rows.count(), rows.row_elements()}));
  HEARTH_ASSIGN(const ValueId made, to.Add(Gather{}, {matrix, places}));
  return OneValue(Arrange(to, made, form));
}

}  // namespace hearth
