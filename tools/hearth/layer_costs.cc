#include "tools/hearth/layer_costs.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "frontends/api/model_data.h"
#include "tools/hearth/printing.h"

namespace hearth {
namespace {

double ElementCount(const Shape& shape) {
  return static_cast<double>(shape.element_count());
}

// Multiplications and additions of a node; one operation per element if there are no weights.
double OperationsOf(const Graph& graph, const Node& node) {
  const Shape& out = graph.value(node.outputs.at(0)).desc.shape;
  const auto input = [&](size_t k) -> const Shape& { return graph.value(node.inputs.at(k)).desc.shape; };
  const double elements = ElementCount(out);
  if (std::holds_alternative<Conv2D>(node.op)) return 2 * elements * ElementCount(input(1)) / std::max(1, input(1)[0]);
  if (std::holds_alternative<DepthwiseConv2D>(node.op)) return 2 * elements * input(1)[1] * input(1)[2];
  if (std::holds_alternative<FullyConnected>(node.op)) return 2 * elements * input(1)[1];
  if (std::holds_alternative<BatchMatMul>(node.op)) return 2 * elements * input(0)[input(0).rank() - 1];
  if (std::holds_alternative<Pool2D>(node.op)) return ElementCount(input(0));
  return elements;
}

// The N of "... (operator N)"; -1 if there is none.
int OperatorIn(const std::string& label) {
  constexpr std::string_view kMark = "(operator ";
  const size_t at = label.rfind(kMark);
  int index = -1;
  if (at != std::string::npos) std::from_chars(label.data() + at + kMark.size(), label.data() + label.size(), index);
  return index;
}

}  // namespace

std::vector<LayerCost> CostsOf(std::span<const ProfileEntry> profile, const Model& model) {
  const Graph& graph = model.data().graph;
  std::map<int, const Node*> nodes;
  for (const Node& node : graph.nodes()) nodes.emplace(node.source_index, &node);
  std::map<int, double> milliseconds;  // summed over the entries of an operator
  for (const ProfileEntry& entry : profile) milliseconds[OperatorIn(entry.node)] += entry.milliseconds;

  std::vector<LayerCost> costs;
  for (const ProfileEntry& entry : profile) {
    const int index = OperatorIn(entry.node);
    LayerCost cost{index < 0 ? entry.node : entry.node.substr(0, entry.node.find(' ')), "", 0, 0};
    const auto found = index < 0 ? nodes.end() : nodes.find(index);
    if (found != nodes.end() && !found->second->outputs.empty() && milliseconds[index] > 0) {
      const Shape& shape = graph.value(found->second->outputs[0]).desc.shape;
      const double all = OperationsOf(graph, *found->second);
      cost.output = shape.ToString();
      cost.operations = all * entry.milliseconds / milliseconds[index];
      cost.giga_per_second = all / milliseconds[index] / 1e6;
    }
    costs.push_back(std::move(cost));
  }
  return costs;
}

std::vector<KindCost> SumsByKind(std::span<const ProfileEntry> profile, std::span<const LayerCost> costs) {
  std::map<std::string, KindCost> by_op;
  for (size_t k = 0; k < profile.size(); ++k) {
    KindCost& kind = by_op[costs[k].op];
    kind.op = costs[k].op;
    ++kind.entries;
    kind.milliseconds += profile[k].milliseconds;
  }
  std::vector<KindCost> sums;
  for (auto& [op, kind] : by_op) sums.push_back(std::move(kind));
  std::stable_sort(sums.begin(), sums.end(),
                   [](const KindCost& a, const KindCost& b) { return a.milliseconds > b.milliseconds; });
  return sums;
}

}  // namespace hearth
