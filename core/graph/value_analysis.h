// What is known of values without a run: which decide indices or hold them, and how large they can become.
#ifndef HEARTH_CORE_GRAPH_VALUE_ANALYSIS_H_
#define HEARTH_CORE_GRAPH_VALUE_ANALYSIS_H_

#include <vector>

#include "core/graph/graph.h"

namespace hearth {

// For each value, whether it is a detection (coordinates, class numbers), or a node that outputs indices (max pooling
// with argmax, whose result unpooling uses) depends on it. Indices are not continuous: if two elements of a window are
// nearly equal, one rounding moves a large number elsewhere. Such values are computed in float32 with every precision,
// and with sums that stay close to the exact ones.
std::vector<bool> ValuesThatDecideIndices(const Graph& graph);

// For each value, whether it is a float32 value that may hold integers which float16, with 11 bits, would change: it is
// cast from or to integers of more than 8 bits, compared with these or with constants above 2048, an angle (of which
// turns count as well: 16 bits round one of 1000 by 0.25), or calculated between such places by elementwise functions,
// sums and movement. Convolutions and activations end the search, so a picture
// that is cast at last does not change how its network is held; their results are held if they are rounded and then
// cast. Only the storage of such values depends on it.
std::vector<bool> ValuesThatHoldIntegers(const Graph& graph);

// For each value a number that the magnitude of none of its elements exceeds, NaN aside: from activations, functions
// with a bounded range and quantization grids. Infinity where none of them bounds it, and for constants of floats,
// which are not read.
std::vector<float> LargestMagnitudes(const Graph& graph);

// The largest magnitude of a constant's elements; NaN if one is NaN. Reads all of them.
float LargestMagnitudeOf(const Graph& graph, ValueId constant);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_VALUE_ANALYSIS_H_
