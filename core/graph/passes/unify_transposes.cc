#include "core/graph/passes/graph_rewriter.h"

namespace hearth {

Result<Verdict> UnifyTransposes(Graph& graph, const DeviceInfo&) {
  GraphRewriter rewriter(graph);
  for (int index = 0; index < rewriter.node_count(); ++index) {
    Node& second = rewriter.node(index);
    if (!std::holds_alternative<Transpose>(second.op)) continue;
    const Node* first = rewriter.ProducerOf(second.inputs[0]);
    if (first == nullptr || !std::holds_alternative<Transpose>(first->op)) continue;
    // A different grid between the two means that the elements are rounded there.
    if (graph.value(first->inputs[0]).desc.quantization != graph.value(second.inputs[0]).desc.quantization) continue;
    const Shape& inner = std::get<Transpose>(first->op).permutation;
    Shape& outer = std::get<Transpose>(second.op).permutation;
    for (int d = 0; d < outer.rank(); ++d) outer[d] = inner[outer[d]];
    // The first transpose becomes a dead node unless something else reads it.
    rewriter.SetInput(second, 0, first->inputs[0]);
  }
  return rewriter.Finish();
}

}  // namespace hearth
