#include "core/graph/ops/strided_view.h"
#include "core/graph/passes/pass.h"

namespace hearth {
namespace {

// Whether each element of the only output is the input's element with the same index.
bool MovesNothing(const Graph& graph, const Node& node) {
  if (node.inputs.size() != 1 || node.outputs.size() != 1 || std::holds_alternative<Reshape>(node.op)) return false;
  if (std::holds_alternative<Pack>(node.op)) return true;
  const auto view = ViewOf(graph, node, 0);
  const Shape &in = graph.value(node.inputs[0]).desc.shape, &out = graph.value(node.outputs[0]).desc.shape;
  return view.has_value() && view->is_identity() && in.element_count() == out.element_count();
}

}  // namespace

Result<Verdict> MovesToReshapes(Graph& graph, const DeviceInfo&) {
  Verdict verdict = Verdict::kUnchanged;
  for (Node& node : graph.nodes()) {
    if (!MovesNothing(graph, node)) continue;
    node.op = Reshape{graph.value(node.outputs[0]).desc.shape};
    verdict = Verdict::kChanged;
  }
  return verdict;
}

}  // namespace hearth
