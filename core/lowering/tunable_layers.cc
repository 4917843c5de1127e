#include "core/lowering/tunable_layers.h"

#include <algorithm>

#include "core/graph/op_def.h"
#include "core/lowering/lower.h"
#include "core/plan/plan_builder.h"
#include "core/plan/tuning.h"

namespace hearth {
namespace {

ValueId CopyValue(const Graph& graph, ValueId value, Graph& layer) {
  if (value == kNoValue) return kNoValue;
  const Value& source = graph.value(value);
  if (!graph.IsConstant(value)) return layer.AddValue({source.name, source.desc, {}});
  return layer.AddConstantValue(source.name, source.desc, std::vector<std::byte>(source.desc.size_bytes()));
}

}  // namespace

std::vector<TunableLayer> TunableLayers(const Graph& graph, const DeviceInfo& device, const LowerOptions& options) {
  const std::vector<Placement> placements = PlaceNodes(graph, device, options);
  const PlanBuilder builder(graph, device, options);
  std::vector<TunableLayer> layers;
  for (size_t k = 0; k < graph.nodes().size(); ++k) {
    const Node& node = graph.nodes()[k];
    const OpDef& def = OpDefOf(node.op);
    if (!placements[k].on_device || def.candidates == nullptr) continue;
    std::vector<KernelChoice> candidates = def.candidates(node, builder);
    if (candidates.size() < 2) continue;
    std::string key = LayerKey(graph, node, device, options);
    const auto known = std::find_if(layers.begin(), layers.end(), [&](const auto& layer) { return layer.key == key; });
    if (known == layers.end()) layers.push_back({std::move(key), static_cast<int>(k), std::move(candidates)});
  }
  return layers;
}

Graph LayerGraph(const Graph& graph, int node) {
  const Node& source = graph.nodes()[node];
  Graph layer;
  layer.name = "layer";
  Node copy;
  copy.op = source.op;
  copy.name = source.name;
  copy.source_index = 0;
  for (ValueId input : source.inputs) {
    copy.inputs.push_back(CopyValue(graph, input, layer));
    if (input != kNoValue && !graph.IsConstant(input)) layer.inputs.push_back(copy.inputs.back());
  }
  for (ValueId output : source.outputs) copy.outputs.push_back(CopyValue(graph, output, layer));
  layer.outputs = copy.outputs;
  layer.AddNode(std::move(copy));
  return layer;
}

Result<Plan> LowerLayer(const Graph& layer, const DeviceInfo& device, const LowerOptions& options,
                        const KernelChoice& candidate) {
  LowerOptions forced = options;
  forced.cpu_ops.clear();  // they name operators of the original network
  forced.tuned = {{LayerKey(layer, layer.nodes()[0], device, options), {candidate, true}}};
  return Lower(layer, device, forced);
}

}  // namespace hearth
