// sum(x) divided by the number of elements that it adds up, or multiplied by 1 over it: a mean.
#include "core/graph/evaluate.h"
#include "core/graph/passes/graph_rewriter.h"
#include "core/graph/quantize.h"

namespace hearth {
namespace {

// Whether the node divides its input at `position` by `count`.
bool DividesBy(const Graph& graph, const Node& node, int position, int64_t count) {
  const auto& binary = std::get<Binary>(node.op);
  const ValueId number = node.inputs[1 - position];
  if (!graph.IsConstant(number) || graph.value(number).desc.shape.element_count() != 1) return false;
  const Result<std::vector<float>> floats = ConstantAsFloats(graph, number);
  if (!floats.ok()) return false;
  if (binary.kind == BinaryKind::kDiv) return position == 0 && floats->front() == static_cast<float>(count);
  return binary.kind == BinaryKind::kMul && floats->front() == static_cast<float>(1.0 / static_cast<double>(count));
}

}  // namespace

Result<Verdict> SumToMean(Graph& graph, const DeviceInfo&) {
  GraphRewriter rewriter(graph);
  for (int index = 0; index < rewriter.node_count(); ++index) {
    const Node& node = rewriter.node(index);
    const auto* binary = std::get_if<Binary>(&node.op);
    if (binary == nullptr || binary->activation != Activation::kNone) continue;
    const int position = graph.IsConstant(node.inputs[0]) ? 1 : 0;
    const ValueId sum = node.inputs[position];
    Node* producer = rewriter.IsReadOnce(sum) ? rewriter.ProducerOf(sum) : nullptr;
    Reduce* reduce = producer == nullptr ? nullptr : std::get_if<Reduce>(&producer->op);
    if (reduce == nullptr || reduce->kind != ReduceKind::kSum) continue;
    const TensorDesc& desc = graph.value(sum).desc;
    if (!IsPlainFloat32(desc) || desc != graph.value(node.outputs[0]).desc) continue;
    const int64_t count = graph.value(producer->inputs[0]).desc.shape.element_count() / desc.shape.element_count();
    if (!DividesBy(graph, node, position, count)) continue;
    reduce->kind = ReduceKind::kMean;
    rewriter.TakeOver(*producer, node.outputs[0]);
  }
  return rewriter.Finish();
}

}  // namespace hearth
