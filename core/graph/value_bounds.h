// Finds how large values can become.
#ifndef HEARTH_CORE_GRAPH_VALUE_BOUNDS_H_
#define HEARTH_CORE_GRAPH_VALUE_BOUNDS_H_

#include <vector>

#include "core/graph/graph.h"

namespace hearth {

// For each value a number that the magnitude of none of its elements exceeds, NaN aside: from activations, functions
// with a bounded range and quantization grids. Infinity where none of them bounds it, and for constants of floats,
// which are not read.
std::vector<float> LargestMagnitudes(const Graph& graph);

// By value: floats that may well exceed 65504, the largest number that float16 holds: squares, products, sums and
// powers of numbers that nothing bounds, exponentials, and constants with such numbers. An estimate: unbounded results
// of layers with weights, and inputs, count as small.
std::vector<bool> ValuesBeyondHalf(const Graph& graph);

// The largest magnitude of a constant's elements; NaN if one is NaN. Reads all of them.
float LargestMagnitudeOf(const Graph& graph, ValueId constant);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_VALUE_BOUNDS_H_
