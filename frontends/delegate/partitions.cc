#include "frontends/delegate/partitions.h"

#include <algorithm>

#include "core/base/error.h"

namespace hearth {
namespace {

using namespace tflite_c;  // NOLINT(google-build-using-namespace): the names of one interface

struct Partition {
  std::vector<int> nodes, outputs;
};

// The partitions that the interpreter would make if these nodes were taken.
Result<std::vector<Partition>> Divide(TfLiteContext& context, const Support& support) {
  std::vector<int> wanted;
  for (const InterpreterNode& node : support.taken) {
    if (support.left.empty() || !node.IsOfConstant(context)) wanted.push_back(node.index);
  }
  if (wanted.empty()) return std::vector<Partition>();
  const IntArray array(wanted);
  TfLiteDelegateParams* previews = nullptr;
  int count = 0;
  if (context.PreviewDelegatePartitioning == nullptr ||
      context.PreviewDelegatePartitioning(&context, array.get(), &previews, &count) != kTfLiteOk ||
      (count > 0 && previews == nullptr)) {
    return Error(StatusCode::kInternal, "the interpreter cannot divide its network into partitions");
  }
  std::vector<Partition> partitions;
  for (int k = 0; k < count; ++k) {
    partitions.push_back({CopyOf(previews[k].nodes_to_replace), CopyOf(previews[k].output_tensors)});
  }
  return partitions;
}

Result<std::vector<LeftNode>> UnreadableNodesOf(TfLiteContext& context, const Partition& partition,
                                                const Support& support, const std::map<int, int>& makers) {
  HEARTH_ASSIGN(const std::vector<InterpreterNode> own, NodesAt(context, partition.nodes));
  HEARTH_ASSIGN(const std::vector<InterpreterNode> nodes, WithTheirConstants(context, own, makers));
  return UnreadableNodes(context, nodes, partition.outputs, support.shapes);
}

size_t WorkingNodes(TfLiteContext& context, const Partition& partition) {
  return static_cast<size_t>(std::count_if(partition.nodes.begin(), partition.nodes.end(), [&](int index) {
    const Result<InterpreterNode> node = NodeAt(context, index);
    return node.ok() && !node->IsOfConstant(context);
  }));
}

}  // namespace

std::map<int, int> ConstantMakers(const TfLiteContext& context, const Support& support) {
  std::map<int, int> makers;
  for (const InterpreterNode& node : support.taken) {
    if (!node.IsOfConstant(context)) continue;
    for (const int tensor : Numbers(node.node->outputs)) makers.emplace(tensor, node.index);
  }
  return makers;
}

Result<std::vector<int>> NodesToReplace(TfLiteContext& context, const DelegateOptions& options, Support& support) {
  std::vector<Partition> partitions;
  for (bool is_settled = false; !is_settled;) {
    HEARTH_ASSIGN(partitions, Divide(context, support));
    const std::map<int, int> makers = ConstantMakers(context, support);
    is_settled = true;
    for (const Partition& partition : partitions) {
      HEARTH_ASSIGN(const std::vector<LeftNode> unreadable, UnreadableNodesOf(context, partition, support, makers));
      Leave(unreadable, support);
      is_settled = is_settled && unreadable.empty();
    }
  }
  std::erase_if(partitions, [&](const Partition& partition) {
    return WorkingNodes(context, partition) < static_cast<size_t>(options.min_nodes_per_partition);
  });
  std::stable_sort(partitions.begin(), partitions.end(),
                   [](const Partition& a, const Partition& b) { return a.nodes.size() > b.nodes.size(); });
  const auto most = static_cast<size_t>(options.max_partitions);
  if (most > 0 && partitions.size() > most) partitions.resize(most);
  std::vector<int> nodes;
  for (const Partition& partition : partitions) {
    nodes.insert(nodes.end(), partition.nodes.begin(), partition.nodes.end());
  }
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

}  // namespace hearth
