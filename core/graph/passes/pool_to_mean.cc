#include "core/device/device_rules.h"
#include "core/graph/passes/pass.h"

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
  const bool is_plain = in.dtype == DType::kFloat32 && !in.quantization.has_value() && in.dtype == out.dtype;
  return is_plain && in.shape[1] == pool->kernel_h && in.shape[2] == pool->kernel_w && out.shape[1] == 1 &&
         out.shape[2] == 1 && int64_t{pool->kernel_h} * pool->kernel_w >= least_window;
}

bool IsPaddedPool(const Graph& graph, const Node& node) {
  const auto& pool = std::get<Pool2D>(node.op);
  const Padding2D padding = ResolvePadding(pool.window, graph.value(node.inputs[0]).desc.shape[1],
                                           graph.value(node.inputs[0]).desc.shape[2], pool.kernel_h, pool.kernel_w);
  return padding.top != 0 || padding.bottom != 0 || padding.left != 0 || padding.right != 0;
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

}  // namespace hearth
