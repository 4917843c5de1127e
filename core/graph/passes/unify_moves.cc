#include "core/graph/ops/view_of.h"
#include "core/graph/passes/graph_rewriter.h"
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

Result<Verdict> UnifyTransposes(Graph& graph, const DeviceInfo&) {
  return RewriteEach(graph, [&](GraphRewriter& rewriter, Node& second) {
    if (!std::holds_alternative<Transpose>(second.op)) return;
    const Node* first = rewriter.ProducerOf(second.inputs[0]);
    if (first == nullptr || !std::holds_alternative<Transpose>(first->op)) return;
    // A different grid between the two means that the elements are rounded there.
    if (graph.value(first->inputs[0]).desc.quantization != graph.value(second.inputs[0]).desc.quantization) return;
    const Shape& inner = std::get<Transpose>(first->op).permutation;
    Shape& outer = std::get<Transpose>(second.op).permutation;
    for (int d = 0; d < outer.rank(); ++d) outer[d] = inner[outer[d]];
    // The first transpose becomes a dead node unless something else reads it.
    rewriter.SetInput(second, 0, first->inputs[0]);
  });
}

Result<Verdict> UnifyReshapes(Graph& graph, const DeviceInfo&) {
  return RewriteEach(graph, [&](GraphRewriter& rewriter, Node& second) {
    if (!std::holds_alternative<Reshape>(second.op)) return;
    const Node* first = rewriter.ProducerOf(second.inputs[0]);
    if (first == nullptr || !std::holds_alternative<Reshape>(first->op)) return;
    // The first reshape becomes a dead node unless something else reads it.
    rewriter.SetInput(second, 0, first->inputs[0]);
  });
}

namespace {

bool ExchangesTheLastTwo(const Node* node) {
  const auto* transpose = node == nullptr ? nullptr : std::get_if<Transpose>(&node->op);
  if (transpose == nullptr) return false;
  const Shape& from = transpose->permutation;
  const int rank = from.rank();
  for (int d = 0; d < rank - 2; ++d)
    if (from[d] != d) return false;
  return rank >= 2 && from[rank - 2] == rank - 1;
}

}  // namespace

Result<Verdict> TransposesIntoProducts(Graph& graph, const DeviceInfo&) {
  return RewriteEach(graph, [&](GraphRewriter& rewriter, Node& node) {
    auto* product = std::get_if<BatchMatMul>(&node.op);
    if (product == nullptr) return;
    for (const size_t side : {0, 1}) {
      const Node* transpose = rewriter.ProducerOf(node.inputs[side]);
      if (!ExchangesTheLastTwo(transpose)) continue;
      // A different grid between the two means that the elements are rounded there.
      if (graph.value(transpose->inputs[0]).desc.quantization != graph.value(node.inputs[side]).desc.quantization)
        continue;
      bool& adjoint = side == 0 ? product->adjoint_a : product->adjoint_b;
      adjoint = !adjoint;
      rewriter.SetInput(node, side, transpose->inputs[0]);
    }
  });
}

}  // namespace hearth
