// Finds values that decide indices.
#ifndef HEARTH_CORE_GRAPH_INDEX_VALUES_H_
#define HEARTH_CORE_GRAPH_INDEX_VALUES_H_

#include <vector>

#include "core/graph/graph.h"

namespace hearth {

// For each value, whether it is a detection (coordinates, class numbers), or a node that outputs indices (max pooling
// with argmax, whose result unpooling uses) depends on it. Indices are not continuous: if two elements of a window are
// nearly equal, one rounding moves a large number elsewhere. Such values are computed in float32 with every precision,
// and with sums that stay close to the exact ones.
std::vector<bool> ValuesThatDecideIndices(const Graph& graph);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_INDEX_VALUES_H_
