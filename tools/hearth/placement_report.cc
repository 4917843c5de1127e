#include "tools/hearth/placement_report.h"

#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/graph/custom_node.h"
#include "core/graph/op_text.h"

namespace hearth {
namespace {

std::string WhyNowhere(const Node& node) {
  const auto* unknown = std::get_if<UnknownOp>(&node.op);
  return unknown == nullptr || unknown->reason.empty() ? "not known to Hearth" : unknown->reason;
}

}  // namespace

std::string TypeText(const Graph& graph, ValueId value) {
  if (value == kNoValue) return "none";
  const TensorDesc& desc = graph.value(value).desc;
  return fmt::format("{}[{}]", DTypeName(desc.dtype), desc.shape.ToString());
}

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

Result<PlacementReport> PlaceOperators(const Graph& graph, const DeviceInfo& device, const LowerOptions& options,
                                       PassObserver* observer) {
  PlacementReport report;
  report.rewritten = graph.Clone();
  HEARTH_TRY(RunPasses(report.rewritten, device, {.observer = observer}));
  report.placements = PlaceNodesThatFit(report.rewritten, device, options);

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
      const bool cpu_was_chosen = device.is_host();
      op.reason = op.where == RunsOn::kNowhere ? WhyNowhere(node) : cpu_was_chosen ? "" : placement.reason;
      const auto* custom = std::get_if<Custom>(&node.op);
      if (custom != nullptr) op.reason = fmt::format("registered, version {}", Quoted(custom->node->op.version));
    }
    report.operators.push_back(std::move(op));
  }
  return report;
}

}  // namespace hearth
