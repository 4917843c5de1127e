#include "tools/hearth/placement_report.h"

#include <algorithm>
#include <map>

#include "core/error.h"
#include "core/op_table.h"
#include "core/op_text.h"
#include "core/passes/pass.h"

namespace hearth {
namespace {

std::string TypeText(const Graph& graph, ValueId value) {
  if (value == kNoValue) return "none";
  const TensorDesc& desc = graph.value(value).desc;
  return fmt::format("{}[{}]", DTypeName(desc.dtype), desc.shape.ToString());
}

std::string WhyNowhere(const Node& node) {
  const auto* unknown = std::get_if<UnknownOp>(&node.op);
  return unknown == nullptr || unknown->reason.empty() ? "not known to Hearth" : unknown->reason;
}

std::string_view ColourOf(RunsOn where) {
  switch (where) {
    case RunsOn::kDevice: return "#c6e5c3";
    case RunsOn::kCpu: return "white";
    case RunsOn::kMerged: return "white";
    case RunsOn::kNowhere: return "#f4a9a0";
  }
  return "white";
}

}  // namespace

std::string_view RunsOnName(RunsOn where) {
  switch (where) {
    case RunsOn::kDevice: return "device";
    case RunsOn::kCpu: return "cpu";
    case RunsOn::kMerged: return "merged";
    case RunsOn::kNowhere: return "nowhere";
  }
  return "nowhere";
}

RunsOn WhereOf(const Node& node, const Placement& placement) {
  if (std::holds_alternative<UnknownOp>(node.op)) return RunsOn::kNowhere;
  return placement.on_device ? RunsOn::kDevice : RunsOn::kCpu;
}

int PlacementReport::Count(RunsOn where) const {
  return static_cast<int>(std::count_if(operators.begin(), operators.end(),
                                        [&](const OperatorPlacement& op) { return op.where == where; }));
}

Result<PlacementReport> PlaceOperators(const Graph& graph, const DeviceInfo& device, const LowerOptions& options) {
  PlacementReport report;
  report.rewritten = graph.Clone();
  HEARTH_TRY(RunPasses(report.rewritten, device, {}));
  report.placements = PlaceNodes(report.rewritten, device, options);

  std::map<int, size_t> rewritten_by_source;
  for (size_t k = 0; k < report.rewritten.nodes().size(); ++k) {
    rewritten_by_source.emplace(report.rewritten.nodes()[k].source_index, k);
  }
  for (const Node& node : graph.nodes()) {
    OperatorPlacement op{node.source_index, OpName(node.op), RunsOn::kMerged, "",
                         node.outputs.empty() ? "" : TypeText(graph, node.outputs[0])};
    if (const auto found = rewritten_by_source.find(node.source_index); found != rewritten_by_source.end()) {
      const Placement& placement = report.placements[found->second];
      op.where = WhereOf(report.rewritten.nodes()[found->second], placement);
      const bool cpu_was_chosen = device.backend == BackendKind::kCpu;
      op.reason = op.where == RunsOn::kNowhere ? WhyNowhere(node) : cpu_was_chosen ? "" : placement.reason;
    }
    report.operators.push_back(std::move(op));
  }
  return report;
}

std::string DotText(const PlacementReport& report) {
  const Graph& graph = report.rewritten;
  std::string text =
      fmt::format("digraph {} {{\n  node [shape=box, style=filled, fontname=sans];\n", Quoted(graph.name));
  for (ValueId input : graph.inputs) {
    text += fmt::format("  v{} [label={}, shape=oval, fillcolor=white];\n", input,
                        Quoted(graph.value(input).name + " " + TypeText(graph, input)));
  }
  for (const StatePair& state : graph.states) {
    text += fmt::format("  v{} [label={}, shape=oval, fillcolor=white, style=dashed];\n", state.read,
                        Quoted("state " + graph.value(state.read).name + " " + TypeText(graph, state.read)));
    text += fmt::format("  n{} -> v{} [style=dashed];\n", graph.ProducerOf(state.written), state.read);
  }
  for (size_t k = 0; k < graph.nodes().size(); ++k) {
    const Node& node = graph.nodes()[k];
    text += fmt::format("  n{} [label={}, fillcolor={}];\n", k,
                        Quoted(fmt::format("{} {}", node.source_index, OpName(node.op))),
                        Quoted(ColourOf(WhereOf(node, report.placements[k]))));
    for (ValueId input : node.inputs) {
      if (input == kNoValue || graph.IsConstant(input)) continue;
      const int producer = graph.ProducerOf(input);
      text += fmt::format("  {}{} -> n{} [label={}];\n", producer < 0 ? "v" : "n", producer < 0 ? input : producer, k,
                          Quoted(TypeText(graph, input)));
    }
  }
  for (ValueId output : graph.outputs) {
    const int producer = graph.ProducerOf(output);
    if (producer < 0) continue;
    text += fmt::format("  o{} [label={}, shape=oval, fillcolor=white];\n  n{} -> o{};\n", output,
                        Quoted(graph.value(output).name + " " + TypeText(graph, output)), producer, output);
  }
  return text + "}\n";
}

}  // namespace hearth
