// Which values decide about indices.
#ifndef HEARTH_CORE_GRAPH_POSITIONS_H_
#define HEARTH_CORE_GRAPH_POSITIONS_H_

#include <vector>

#include "core/graph/graph.h"

namespace hearth {

// By value: whether a node that chooses positions (max pooling with argmax, whose choice unpooling follows) depends on
// it. The choice is not continuous: where two of a window's elements are nearly equal, a rounding more or less puts a
// large number elsewhere. Such values are computed with care: in float32 whatever the precision, and with sums that
// stay near the exact ones.
std::vector<bool> ValuesThatChoosePositions(const Graph& graph);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_POSITIONS_H_
