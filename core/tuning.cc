#include "core/tuning.h"

#include <algorithm>

#include "core/error.h"
#include "core/lower.h"
#include "core/op_table.h"
#include "core/op_text.h"
#include "core/plan_builder.h"

namespace hearth {
namespace {

constexpr std::string_view kTitle = "tuned layers\n", kOfAll = ", of all";

std::string OperandText(const Graph& graph, ValueId value) {
  if (value == kNoValue) return "none";
  const TensorDesc& desc = graph.value(value).desc;
  return fmt::format("{}[{}]{}", DTypeName(desc.dtype), desc.shape.ToString(),
                     graph.IsConstant(value) ? " constant" : "");
}

ValueId CopyValue(const Graph& graph, ValueId value, Graph& layer) {
  if (value == kNoValue) return kNoValue;
  const Value& source = graph.value(value);
  if (!graph.IsConstant(value)) return layer.AddValue({source.name, source.desc, {}});
  return layer.AddConstantValue(source.name, source.desc, std::vector<std::byte>(source.desc.size_bytes()));
}

}  // namespace

std::string LayerKey(const Graph& graph, const Node& node, const DeviceInfo& device, const LowerOptions& options) {
  std::string key = OpName(node.op);
  if (const std::string attributes = AttributesToText(node.op); !attributes.empty()) key += " " + attributes;
  key += ":";
  for (ValueId input : node.inputs) key += " " + OperandText(graph, input);
  key += " ->";
  for (ValueId output : node.outputs) key += " " + OperandText(graph, output);
  return key + fmt::format(", {}, {}", PrecisionName(options.precision),
                           AccessPathName(options.read_path.value_or(DefaultReadPath(device))));
}

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
  forced.cpu_ops.clear();  // they name operators of the whole network
  forced.tuned = {{LayerKey(layer, layer.nodes()[0], device, options), {candidate, true}}};
  return Lower(layer, device, forced);
}

std::string ToText(const TuningTable& table) {
  std::string text(kTitle);
  for (const auto& [key, tuned] : table)
    text += fmt::format("{} = {}{}\n", key, ToText(tuned.choice), tuned.of_all ? kOfAll : "");
  return text;
}

Result<TuningTable> TuningTableFromText(std::string_view text) {
  TuningTable table;
  if (!text.starts_with(kTitle)) return Error(StatusCode::kMalformedInput, "a tuning record without its title");
  text.remove_prefix(kTitle.size());
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    const size_t equals = line.rfind(" = ");
    std::string_view choice_text = equals == std::string_view::npos ? "" : line.substr(equals + 3);
    const bool of_all = choice_text.ends_with(kOfAll);
    if (of_all) choice_text.remove_suffix(kOfAll.size());
    const auto choice = KernelChoiceFromText(choice_text);
    if (end == std::string_view::npos || !choice.has_value() || equals == 0) {
      return Error(StatusCode::kMalformedInput, "line {} of a tuning record is no choice", table.size() + 1);
    }
    table.insert_or_assign(std::string(line.substr(0, equals)), TunedLayer{*choice, of_all});
    text.remove_prefix(end + 1);
  }
  return table;
}

}  // namespace hearth
