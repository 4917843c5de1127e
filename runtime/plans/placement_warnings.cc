#include "runtime/plans/placement_warnings.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/device/options.h"
#include "core/graph/op_text.h"

namespace hearth {

std::vector<std::string> PlacementWarnings(std::span<const Fallback> fallbacks, int pieces) {
  std::set<std::string> told;
  std::vector<std::string> warnings;
  for (const Fallback& fallback : fallbacks) {
    if (!told.insert(fallback.reason).second) continue;
    // An operation that Hearth added has no number in the file.
    const bool is_of_file = fallback.source_index >= 0;
    const std::string name = is_of_file ? fmt::format("op {} {}", fallback.source_index, fallback.op) : fallback.op;
    warnings.push_back(fmt::format("{}: {}; runs on the CPU", name, fallback.reason));
  }
  if (pieces > kFewPieces) {
    warnings.push_back(
        fmt::format("the network is split into {} pieces between device and CPU: moving values between them costs time "
                    "in every run",
                    pieces));
  }
  return warnings;
}

std::vector<std::string> UnknownCpuOpsWarnings(const Graph& graph, std::span<const std::string> cpu_ops) {
  std::vector<std::string> warnings;
  for (const std::string& wanted : cpu_ops) {
    if (wanted == kQuantizedOps) continue;
    if (std::ranges::any_of(graph.nodes(), [&](const Node& node) { return IsCalled(node, wanted); })) continue;
    warnings.push_back(fmt::format(
        "'{}' was to stay on the CPU, but no operation of the model is called so; `hearth inspect` lists them",
        wanted));
  }
  return warnings;
}

}  // namespace hearth
