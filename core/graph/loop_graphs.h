// The parts of a loop whose end depends on data, and its limit of turns.
#ifndef HEARTH_CORE_GRAPH_LOOP_GRAPHS_H_
#define HEARTH_CORE_GRAPH_LOOP_GRAPHS_H_

#include <cstdint>

#include "core/graph/graph.h"

namespace hearth {

// Both graphs take all values of the loop. The condition makes one bool, the body the next values; a separate node
// makes each of its outputs. Constants may be borrowed like those of the graph that holds the loop.
struct LoopGraphs {
  Graph condition, body;
};

// A longer loop counts as endless.
inline constexpr int64_t kMostTurns = 100'000'000;

// Before turn number `turn`, from 0: an error, with the loop's name, if the loop takes too many turns or the run must
// end (core/base/run_limit.h).
Status CheckTurn(const Node& node, int64_t turn);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_LOOP_GRAPHS_H_
