#include "core/graph/passes/graph_rewriter.h"

namespace hearth {

Result<Verdict> RemoveDeadNodes(Graph& graph, const DeviceInfo&) {
  GraphRewriter rewriter(graph);
  std::vector<bool> needed(graph.values().size(), false);
  for (ValueId id : graph.outputs) needed[id] = true;
  for (const StatePair& state : graph.states) needed[state.written] = true;
  for (int index = rewriter.node_count() - 1; index >= 0; --index) {  // readers before what they read
    const Node& node = rewriter.node(index);
    bool alive = false;
    for (ValueId id : node.outputs) alive = alive || needed[id];
    if (!alive) {
      rewriter.Remove(index);
      continue;
    }
    for (ValueId id : node.inputs) {
      if (id != kNoValue) needed[id] = true;
    }
  }
  return rewriter.Finish();
}

}  // namespace hearth
