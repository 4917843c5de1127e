#include "frontends/tflite/window_rows.h"

#include <algorithm>

#include "core/base/contains.h"
#include "core/base/error.h"

namespace hearth {
namespace {

constexpr int64_t kMostRows = 1 << 22;

}  // namespace

std::vector<double> WindowRows::Offsets(int dimension) const {
  std::vector<double> offsets;
  const int64_t inner = CountBetween(window, dimension + 1, leading), rows = per_window();
  for (int64_t row = 0; row < rows; ++row) {
    offsets.push_back(static_cast<double>(row / inner % window[dimension]));
  }
  return offsets;
}

Result<WindowRows> RowsOfWindows(const Expansion& to, const Shape& shape, const Shape& window,
                                 std::vector<int64_t> moved) {
  WindowRows rows{.shape = shape, .window = window, .moved = std::move(moved), .leading = shape.rank()};
  const auto is_whole = [&](int d) { return window[d] == shape[d] && !Contains(rows.moved, d); };
  while (rows.leading > 0 && is_whole(rows.leading - 1)) --rows.leading;
  int64_t count = 1;
  for (int d = 0; d < rows.leading; ++d) count = std::min(count * shape[d], kMostRows + 1);
  if (count > kMostRows) {
    return Error(StatusCode::kUnsupported, "windows of shape {} in {}", window.ToString(), shape.ToString());
  }
  HEARTH_TRY(to.CheckRoom({rows.per_window()}, DType::kInt32));
  return rows;
}

Result<ValueId> StartsOf(Expansion& to, ValueId indices, int64_t axis, size_t numbers) {
  const Shape shape = to.shape(indices);
  if (shape.element_count() == 0) return Error(StatusCode::kUnsupported, "starts of shape {}", shape.ToString());
  const int64_t held = axis == shape.rank() ? 1 : (axis < shape.rank() ? shape[static_cast<int>(axis)] : -1);
  if (held != static_cast<int64_t>(numbers)) {
    return Error(StatusCode::kMalformedInput, "starts of {} numbers in dimension {} of {}", numbers, axis,
                 shape.ToString());
  }
  if (to.desc(indices).dtype != DType::kInt32) {
    HEARTH_ASSIGN(indices, to.Add(Cast{DType::kInt32}, {indices}, DType::kInt32));
  }
  if (axis < shape.rank()) {
    std::vector<int32_t> order = DimsWithout(shape.rank(), {axis});
    order.push_back(static_cast<int32_t>(axis));
    HEARTH_ASSIGN(indices, to.AddTranspose(indices, Shape::FromSpan(order)));
  }
  return to.AddReshape(indices, {static_cast<int32_t>(shape.element_count() / held), static_cast<int32_t>(held)});
}

std::vector<int32_t> DimsWithout(int rank, const std::vector<int64_t>& without) {
  std::vector<int32_t> dims;
  for (int d = 0; d < rank; ++d) {
    if (!Contains(without, d)) dims.push_back(d);
  }
  return dims;
}

}  // namespace hearth
