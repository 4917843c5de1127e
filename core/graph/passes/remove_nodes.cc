#include <algorithm>

#include "core/graph/passes/graph_rewriter.h"

namespace hearth {
namespace {

bool IsAllZero(const Shape& shape) {
  return std::all_of(shape.dims().begin(), shape.dims().end(), [](int32_t dim) { return dim == 0; });
}

// Whether the node does nothing if its input and output have the same type and shape. A resize to the same size reads
// each pixel at its own position under all conventions (aligned corners, half-pixel centers).
bool KeepsElements(const Node& node) {
  if (const auto* unary = std::get_if<Unary>(&node.op)) return unary->kind == UnaryKind::kCopy;
  if (const auto* concat = std::get_if<Concat>(&node.op)) {
    return node.inputs.size() == 1 && concat->activation == Activation::kNone;
  }
  if (const auto* pad = std::get_if<Pad>(&node.op)) return IsAllZero(pad->before) && IsAllZero(pad->after);
  return IsOneOf<Reshape, Resize>(node.op);
}

bool IsNoOp(const Graph& graph, const Node& node) {
  if (node.inputs.empty() || node.inputs[0] == kNoValue || node.outputs.size() != 1) return false;
  return KeepsElements(node) && graph.value(node.inputs[0]).desc == graph.value(node.outputs[0]).desc;
}

// Whether the node that makes `input` can make the kept value (an output, a state's next content) instead.
bool CanMakeKept(GraphRewriter& rewriter, ValueId input) {
  const Node* producer = rewriter.ProducerOf(input);
  return producer != nullptr && producer->outputs.size() == 1 && !rewriter.graph().IsKept(input);
}

}  // namespace

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
    for (ValueId id : Present(node.inputs)) needed[id] = true;
  }
  return rewriter.Finish();
}

Result<Verdict> RemoveNoOps(Graph& graph, const DeviceInfo&) {
  GraphRewriter rewriter(graph);
  for (int index = 0; index < rewriter.node_count(); ++index) {
    const Node& node = rewriter.node(index);
    if (!IsNoOp(graph, node)) continue;
    const ValueId input = node.inputs[0], output = node.outputs[0];
    if (!graph.IsKept(output)) {
      rewriter.ReplaceReads(output, input);
      rewriter.Remove(index);
    } else if (CanMakeKept(rewriter, input)) {
      rewriter.TakeOver(*rewriter.ProducerOf(input), output);
      rewriter.ReplaceReads(input, output);
    }
  }
  return rewriter.Finish();
}

}  // namespace hearth
