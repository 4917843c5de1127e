// A loop that only data end.
#ifndef HEARTH_CORE_GRAPH_OPS_LOOP_H_
#define HEARTH_CORE_GRAPH_OPS_LOOP_H_

#include "core/graph/op_def.h"

namespace hearth {

// Both take all values of the loop. The condition makes one bool, the body what the values become; each of its outputs
// is made by a node of its own. Constants may be borrowed like those of the graph that holds the loop.
struct LoopGraphs {
  Graph condition, body;
};

// A loop that goes on for longer has no end.
inline constexpr int64_t kMostTurns = 100'000'000;

Status InferLoop(Graph& graph, const Node& node);
void ReferenceLoop(const Node& node, std::span<const ReferenceTensor* const> inputs,
                   std::span<ReferenceTensor> outputs);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_OPS_LOOP_H_
