// Where each operator of a model would run, and why, for `inspect`.
#ifndef HEARTH_TOOLS_HEARTH_PLACEMENT_REPORT_H_
#define HEARTH_TOOLS_HEARTH_PLACEMENT_REPORT_H_

#include <string>
#include <string_view>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/passes/pass.h"
#include "core/lowering/lower.h"

namespace hearth {

enum class RunsOn {
  kDevice,
  kCpu,
  kMerged,   // a pass merged it into another operation, or removed it because it does nothing
  kNowhere,  // Hearth doesn't know the operator
};
std::string_view RunsOnName(RunsOn where);  // "device", "cpu", "merged", "nowhere"

struct OperatorPlacement {
  int index = -1;  // in the model file
  std::string op;
  RunsOn where = RunsOn::kNowhere;
  std::string reason;       // why not on the device
  std::string output_type;  // "float32[1x112x112x32]", of the first output
};

struct PlacementReport {
  Graph rewritten;                           // the graph that would be lowered
  std::vector<Placement> placements;         // of its nodes
  std::vector<OperatorPlacement> operators;  // of the file

  int Count(RunsOn where) const;
};

// Runs the passes and places the remaining nodes. `observer` may be null. Returns the errors of passes.
Result<PlacementReport> PlaceOperators(const Graph& graph, const DeviceInfo& device, const LowerOptions& options,
                                       PassObserver* observer = nullptr);

// "float32[1x112x112x32]"; "none" for an absent operand.
std::string TypeText(const Graph& graph, ValueId value);

// The place where a node of the rewritten graph runs.
RunsOn WhereOf(const Node& node, const Placement& placement);

}  // namespace hearth

#endif  // HEARTH_TOOLS_HEARTH_PLACEMENT_REPORT_H_
