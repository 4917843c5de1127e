// What a loop that only data end consists of, and how long it may go on.
#ifndef HEARTH_CORE_GRAPH_LOOP_GRAPHS_H_
#define HEARTH_CORE_GRAPH_LOOP_GRAPHS_H_

#include <cstdint>

#include "core/graph/graph.h"

namespace hearth {

// Both take all values of the loop. The condition makes one bool, the body what the values become; each of its outputs
// is made by a node of its own. Constants may be borrowed like those of the graph that holds the loop.
struct LoopGraphs {
  Graph condition, body;
};

// A loop that goes on for longer counts as one without end.
inline constexpr int64_t kMostTurns = 100'000'000;

// Before turn number `turn`, from 0: the error, with the loop's name, where the loop takes too many of them, or the run
// is to end (core/base/run_limit.h).
Status CheckTurn(const Node& node, int64_t turn);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_LOOP_GRAPHS_H_
