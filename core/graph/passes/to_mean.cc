#include <optional>

#include "core/device/device_rules.h"
#include "core/graph/evaluate.h"
#include "core/graph/passes/graph_rewriter.h"
#include "core/graph/passes/pass.h"
#include "core/graph/quantize.h"

namespace hearth {
namespace {

// A smaller window takes a work item no longer than a launch.
constexpr int64_t kLeastWindow = 256;
// Software devices have few threads to share a sum: one work item adds up a long window as fast.
constexpr int64_t kLeastWindowOfSoftware = 1 << 16;

bool AveragesWholeImages(const Graph& graph, const Node& node, int64_t least_window) {
  const auto* pool = std::get_if<Pool2D>(&node.op);
  if (pool == nullptr || pool->kind != PoolKind::kAverage || pool->activation != Activation::kNone) return false;
  const TensorDesc& in = graph.value(node.inputs[0]).desc;
  const TensorDesc& out = graph.value(node.outputs[0]).desc;
  return IsPlainFloat32(in) && in.dtype == out.dtype && in.shape[1] == pool->kernel_h &&
         in.shape[2] == pool->kernel_w && out.shape[1] == 1 && out.shape[2] == 1 &&
         int64_t{pool->kernel_h} * pool->kernel_w >= least_window;
}

bool IsPaddedPool(const Graph& graph, const Node& node) {
  const auto& pool = std::get<Pool2D>(node.op);
  const Shape& in = graph.value(node.inputs[0]).desc.shape;
  return HasPixels(ResolvePadding(pool.window, in[1], in[2], pool.kernel_h, pool.kernel_w));
}

// Whether the node divides its input at `position` by `count`.
bool DividesBy(const Graph& graph, const Node& node, int position, int64_t count) {
  const auto& binary = std::get<Binary>(node.op);
  const std::optional<float> number = NumberOf(graph, node.inputs[1 - position]);
  if (binary.kind == BinaryKind::kDiv) return position == 0 && number == static_cast<float>(count);
  return binary.kind == BinaryKind::kMul && number == static_cast<float>(1.0 / static_cast<double>(count));
}

}  // namespace

Result<Verdict> PoolToMean(Graph& graph, const DeviceInfo& device) {
  const int64_t least_window = Applies(Rule::kMeansOfSmallWindows, device) ? kLeastWindowOfSoftware : kLeastWindow;
  Verdict verdict = Verdict::kUnchanged;
  for (Node& node : graph.nodes()) {
    if (!AveragesWholeImages(graph, node, least_window) || IsPaddedPool(graph, node)) continue;
    node.op = Reduce{ReduceKind::kMean, 1u << 1 | 1u << 2, true};
    verdict = Verdict::kChanged;
  }
  return verdict;
}

// pow(x, 2), which took devices 500 times as long (PoCL, a million elements: 73 ms).
Result<Verdict> PowerToSquare(Graph& graph, const DeviceInfo&) {
  Verdict verdict = Verdict::kUnchanged;
  for (Node& node : graph.nodes()) {
    if (node.op != Op(Binary{BinaryKind::kPow}) || NumberOf(graph, node.inputs[1]) != 2.0f) continue;
    const TensorDesc& desc = graph.value(node.outputs[0]).desc;
    if (!IsPlainFloat32(desc) || desc != graph.value(node.inputs[0]).desc) continue;
    node.op = Unary{UnaryKind::kSquare};
    node.inputs.resize(1);
    verdict = Verdict::kChanged;
  }
  return verdict;
}

// sum(x) divided by the number of elements that it adds up, or multiplied by 1 over it.
Result<Verdict> SumToMean(Graph& graph, const DeviceInfo&) {
  return RewriteEach(graph, [&](GraphRewriter& rewriter, const Node& node) {
    const auto* binary = std::get_if<Binary>(&node.op);
    if (binary == nullptr || binary->activation != Activation::kNone) return;
    const int position = graph.IsConstant(node.inputs[0]) ? 1 : 0;
    const ValueId sum = node.inputs[position];
    Node* producer = rewriter.IsReadOnce(sum) ? rewriter.ProducerOf(sum) : nullptr;
    Reduce* reduce = producer == nullptr ? nullptr : std::get_if<Reduce>(&producer->op);
    if (reduce == nullptr || reduce->kind != ReduceKind::kSum) return;
    const TensorDesc& desc = graph.value(sum).desc;
    if (!IsPlainFloat32(desc) || desc != graph.value(node.outputs[0]).desc) return;
    const int64_t count = graph.value(producer->inputs[0]).desc.shape.element_count() / desc.shape.element_count();
    if (!DividesBy(graph, node, position, count)) return;
    reduce->kind = ReduceKind::kMean;
    rewriter.TakeOver(*producer, node.outputs[0]);
  });
}

}  // namespace hearth
