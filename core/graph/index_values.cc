#include "core/graph/index_values.h"

#include <algorithm>

#include "core/graph/op_def.h"

namespace hearth {

std::vector<bool> ValuesThatDecideIndices(const Graph& graph) {
  std::vector<bool> needed(graph.values().size(), false);
  for (auto node = graph.nodes().rbegin(); node != graph.nodes().rend(); ++node) {
    const bool chooses = OpDefOf(node->op).Has(kChoosesIndices);
    const bool feeds = std::any_of(node->outputs.begin(), node->outputs.end(), [&](ValueId v) { return needed[v]; });
    if (!chooses && !feeds) continue;
    for (ValueId input : node->inputs) {
      if (input != kNoValue) needed[input] = true;
    }
  }
  // The inputs of such a node may have 16 bits: that changes its results no more than rounding its inputs would.
  for (const Node& node : graph.nodes()) {
    if (!OpDefOf(node.op).Has(kFloat32Results)) continue;
    for (ValueId output : node.outputs) needed[output] = true;
  }
  return needed;
}

}  // namespace hearth
