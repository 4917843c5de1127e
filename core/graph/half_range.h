// Which numbers of a network may leave the range of 16-bit floats.
#ifndef HEARTH_CORE_GRAPH_HALF_RANGE_H_
#define HEARTH_CORE_GRAPH_HALF_RANGE_H_

#include <vector>

#include "core/graph/graph.h"

namespace hearth {

// By value: floats that may well exceed 65504, the largest number that float16 holds: squares, products, sums and
// powers of numbers that nothing bounds, exponentials, and constants with such numbers. An estimate: unbounded results
// of layers with weights, and inputs, count as small.
std::vector<bool> ValuesBeyondHalf(const Graph& graph);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_HALF_RANGE_H_
