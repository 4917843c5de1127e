// Windows of a tensor that STABLEHLO_GATHER reads and STABLEHLO_SCATTER writes, as rows of a matrix.
#ifndef HEARTH_FRONTENDS_TFLITE_WINDOW_ROWS_H_
#define HEARTH_FRONTENDS_TFLITE_WINDOW_ROWS_H_

#include <cstdint>
#include <vector>

#include "frontends/tflite/expansion.h"

namespace hearth {

// The tensor as a matrix. A row is the last dimensions, which windows contain whole.
struct WindowRows {
  Shape shape;                 // of the tensor
  Shape window;                // of a window, 1 in dimensions that it lacks
  std::vector<int64_t> moved;  // the dimensions that a start index has, in its order
  int leading = 0;             // dimensions before those of a row

  int32_t count() const { return static_cast<int32_t>(CountBetween(shape, 0, leading)); }
  int32_t per_window() const { return static_cast<int32_t>(CountBetween(window, 0, leading)); }
  int32_t row_elements() const { return static_cast<int32_t>(shape.element_count() / count()); }
  // In rows.
  int64_t StrideOf(int dimension) const { return CountBetween(shape, dimension + 1, leading); }
  // The offsets of a window's rows along one dimension.
  std::vector<double> Offsets(int dimension) const;
};

// kUnsupported if there are too many rows for the file, whose constants their offsets become.
Result<WindowRows> RowsOfWindows(const Expansion& to, const Shape& shape, const Shape& window,
                                 std::vector<int64_t> moved);

// The start indices, which lie along dimension `axis` of `indices` (it may be one past the last): int32[starts, n].
Result<ValueId> StartsOf(Expansion& to, ValueId indices, int64_t axis, size_t numbers);

// The dimensions below `rank` that are not in `without`, ascending.
std::vector<int32_t> DimsWithout(int rank, const std::vector<int64_t>& without);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_TFLITE_WINDOW_ROWS_H_
