// Windows of a tensor that STABLEHLO_GATHER reads and STABLEHLO_SCATTER writes: rows of a matrix, by their places.
#ifndef HEARTH_FRONTENDS_TFLITE_EXPAND_HLO_PLACES_H_
#define HEARTH_FRONTENDS_TFLITE_EXPAND_HLO_PLACES_H_

#include <cstdint>
#include <vector>

#include "frontends/tflite/expansion.h"

namespace hearth {

// The tensor as a matrix: the last dimensions, which windows hold whole, are a row.
struct WindowRows {
  Shape shape;                 // of the tensor
  Shape window;                // of a window of it, 1 in dimensions that are left out of it
  std::vector<int64_t> moved;  // the dimensions that a start is given for, in the order of its numbers
  int leading = 0;             // dimensions that are not of a row

  int32_t count() const { return static_cast<int32_t>(Elements(shape, 0)); }
  int32_t per_window() const { return static_cast<int32_t>(Elements(window, 0)); }
  int32_t row_elements() const { return static_cast<int32_t>(shape.element_count() / count()); }
  // In rows.
  int64_t StrideOf(int dimension) const { return Elements(shape, dimension + 1); }
  // Of each row of a window, in one dimension.
  std::vector<double> Offsets(int dimension) const;

 private:
  int64_t Elements(const Shape& of, int first) const;
};

// kUnsupported where there are too many rows.
Result<WindowRows> RowsOfWindows(const Shape& shape, const Shape& window, std::vector<int64_t> moved);

// The numbers of a start, which dimension `axis` of `indices` holds (it may be one behind the last): int32[starts, n].
Result<ValueId> StartsOf(Expansion& to, ValueId indices, int64_t axis, size_t numbers);

// The dimensions of `all` that are not in `without`, in their order.
std::vector<int32_t> DimsWithout(int rank, const std::vector<int64_t>& without);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_TFLITE_EXPAND_HLO_PLACES_H_
