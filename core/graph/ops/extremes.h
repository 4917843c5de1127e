// Minimum and maximum of two numbers that keep a NaN.
#ifndef HEARTH_CORE_GRAPH_OPS_EXTREMES_H_
#define HEARTH_CORE_GRAPH_OPS_EXTREMES_H_

#include <cmath>

namespace hearth {

// NaN if one of them is NaN: std::max and std::min drop either the first or the second.
template <typename Number>
Number LargerOf(Number a, Number b) {
  return a < b || std::isnan(b) ? b : a;
}
template <typename Number>
Number SmallerOf(Number a, Number b) {
  return b < a || std::isnan(b) ? b : a;
}

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_OPS_EXTREMES_H_
