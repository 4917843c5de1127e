// One dimension of a shape, between those before and behind it.
#ifndef HEARTH_CORE_GRAPH_OPS_AXIS_SPLIT_H_
#define HEARTH_CORE_GRAPH_OPS_AXIS_SPLIT_H_

#include <cstdint>
#include <optional>

#include "core/graph/types.h"

namespace hearth {

// `axis` counted from the front of `rank` dimensions (negative ones count from the end); nothing outside of them.
inline std::optional<int> AxisFromFront(int32_t axis, int rank) {
  if (axis < -rank || axis >= rank) return std::nullopt;
  return axis < 0 ? axis + rank : axis;
}

// A tensor in C order as [outer, length, inner].
struct AxisSplit {
  int64_t outer = 1, length = 1, inner = 1;
};

// Precondition: 0 <= axis < rank.
inline AxisSplit SplitAt(const Shape& shape, int axis) {
  return {CountBetween(shape, 0, axis), shape[axis], CountBetween(shape, axis + 1, shape.rank())};
}

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_OPS_AXIS_SPLIT_H_
