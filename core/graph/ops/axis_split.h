// One dimension of a shape, between those before and behind it; lookups along it.
#ifndef HEARTH_CORE_GRAPH_OPS_AXIS_SPLIT_H_
#define HEARTH_CORE_GRAPH_OPS_AXIS_SPLIT_H_

#include <cstdint>
#include <optional>

#include "core/graph/op.h"

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

// x as [batches, outer, length, inner], indices as [batches, count], the result as [batches, outer, count, inner].
// Precondition: InferGather passed.
struct GatherSplit {
  int64_t batches = 1, outer = 1, length = 1, inner = 1, count = 1;
  bool over_last = false;  // the axis is the last dimension
};
GatherSplit SplitGather(const Gather& gather, const Shape& x, const Shape& indices);

// Elements before and behind a one-hot dimension. Precondition: InferOneHot passed.
struct OneHotSplit {
  int64_t prefix = 1, suffix = 1;
};
OneHotSplit SplitOneHot(const OneHot& one_hot, const Shape& indices);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_OPS_AXIS_SPLIT_H_
