// Moves rows of a matrix to rows of another one, by index; windows of a tensor as such rows.
#ifndef HEARTH_FRONTENDS_WRITER_SCATTER_H_
#define HEARTH_FRONTENDS_WRITER_SCATTER_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "frontends/writer/node_writer.h"

namespace hearth {

// How rows with the same index are combined, and what an index without rows holds.
struct Meeting {
  BinaryKind kind = BinaryKind::kAdd;
  double empty = 0.0;
};

// The flat index of each row that has coordinates in the first `dims` dimensions of `shape`: the first ones of each
// `listed` numbers. kMalformedInput for one outside of the shape.
Result<std::vector<int64_t>> FlatPlaces(const std::vector<int64_t>& coordinates, const Shape& shape, size_t listed,
                                        int dims);

// The same for coordinates [rows, depth], of any shape, that may be computed at run time: int32[rows]. Nothing is
// checked.
Made ComputedPlaces(NodeWriter& to, ValueId coordinates, const Shape& shape, int32_t rows, int depth);

// A matrix of `count` rows. Row i of `rows` goes to row places[i], or nowhere if places[i] is negative.
Made GatherRows(NodeWriter& to, ValueId rows, std::span<const int64_t> places, int64_t count, const Meeting& meeting);

// GatherRows for `places`, a list of int32, that are computed at run time.
Made CombineRows(NodeWriter& to, ValueId rows, ValueId places, int64_t count, const Meeting& meeting);

// What rows of this type without elements become: `made` filled with what indices without rows hold. Types are refused
// as GatherRows refuses them.
Made RowsOfNothing(NodeWriter& to, TensorDesc desc, const Shape& made, const Meeting& meeting);

// `matrix` with rows changed by `rows`, at `places` (int32, -1: nowhere), constant or computed. Without `kind` the last
// one of those with the same place stays.
Made ScatterRows(NodeWriter& to, ValueId matrix, ValueId rows, ValueId places, const std::optional<BinaryKind>& kind);

// ---- Windows of a tensor that are read or written, as rows of a matrix ----

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
Result<WindowRows> RowsOfWindows(const NodeWriter& to, const Shape& shape, const Shape& window,
                                 std::vector<int64_t> moved);

// The start indices, which lie along dimension `axis` of `indices` (it may be one past the last): int32[starts, n].
Made StartsOf(NodeWriter& to, ValueId indices, int64_t axis, size_t numbers);

// The dimensions below `rank` that are not in `without`, ascending.
std::vector<int32_t> DimsWithout(int rank, const std::vector<int64_t>& without);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_WRITER_SCATTER_H_
