#include "core/graph/passes/graph_rewriter.h"

namespace hearth {

Result<Verdict> UnifyReshapes(Graph& graph, const DeviceInfo&) {
  GraphRewriter rewriter(graph);
  for (int index = 0; index < rewriter.node_count(); ++index) {
    Node& second = rewriter.node(index);
    if (!std::holds_alternative<Reshape>(second.op)) continue;
    const Node* first = rewriter.ProducerOf(second.inputs[0]);
    if (first == nullptr || !std::holds_alternative<Reshape>(first->op)) continue;
    // The first reshape becomes a dead node unless something else reads it.
    rewriter.SetInput(second, 0, first->inputs[0]);
  }
  return rewriter.Finish();
}

}  // namespace hearth
