#include "frontends/delegate/partitions.h"

#include <algorithm>

#include "core/error.h"

namespace hearth {

Result<std::vector<int>> NodesToReplace(tflite_c::TfLiteContext& context, const Support& support,
                                        const DelegateOptions& options) {
  std::vector<int> all, without_constants;
  for (const InterpreterNode& node : support.taken) {
    all.push_back(node.index);
    if (!node.IsOfConstant(context)) without_constants.push_back(node.index);
  }
  const auto least = static_cast<size_t>(options.min_nodes_per_partition);
  if (support.left.empty()) return without_constants.size() >= least ? all : std::vector<int>();
  if (without_constants.empty()) return without_constants;
  if (context.PreviewDelegatePartitioning == nullptr) return without_constants;

  const IntArray wanted(without_constants);
  tflite_c::TfLiteDelegateParams* partitions = nullptr;
  int partition_count = 0;
  if (context.PreviewDelegatePartitioning(&context, wanted.get(), &partitions, &partition_count) !=
          tflite_c::kTfLiteOk ||
      (partition_count > 0 && partitions == nullptr)) {
    return Error(StatusCode::kInternal, "the interpreter cannot divide its network into partitions");
  }
  std::vector<std::vector<int>> chosen;
  for (int k = 0; k < partition_count; ++k) {
    const std::span<const int> nodes = Numbers(partitions[k].nodes_to_replace);
    if (nodes.size() >= least) chosen.emplace_back(nodes.begin(), nodes.end());
  }
  std::stable_sort(chosen.begin(), chosen.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
  const auto most = static_cast<size_t>(options.max_partitions);
  if (most > 0 && chosen.size() > most) chosen.resize(most);
  std::vector<int> nodes;
  for (const std::vector<int>& partition : chosen) nodes.insert(nodes.end(), partition.begin(), partition.end());
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

}  // namespace hearth
