// The parts of a loop whose end depends on data, and its limit of iterations.
#ifndef HEARTH_CORE_GRAPH_LOOP_GRAPHS_H_
#define HEARTH_CORE_GRAPH_LOOP_GRAPHS_H_

#include <cstdint>

#include "core/base/run_control.h"
#include "core/graph/graph.h"

namespace hearth {

// Both graphs take all values of the loop. The condition makes one bool, the body the next values; a separate node
// makes each of its outputs. Constants may be borrowed like those of the graph that holds the loop.
struct LoopGraphs {
  Graph condition, body;
};

// A longer loop counts as endless.
inline constexpr int64_t kMostIterations = 100'000'000;

// Before iteration number `iteration`, from 0: an error, with the loop's name, if the loop takes too many or the run
// must end. `control` may be null.
Status CheckIteration(const Node& node, int64_t iteration, RunControl* control);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_LOOP_GRAPHS_H_
