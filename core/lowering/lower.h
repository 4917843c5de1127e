// From graph to plan: which nodes the device runs, their kernels, and the memory of every tensor.
#ifndef HEARTH_CORE_LOWERING_LOWER_H_
#define HEARTH_CORE_LOWERING_LOWER_H_

#include <optional>
#include <string>
#include <vector>

#include "core/device/device_info.h"
#include "core/device/options.h"
#include "core/graph/graph.h"
#include "core/plan/plan.h"

namespace hearth {

// The place where a node runs and, if not on the device, the reason.
struct Placement {
  bool on_device = false;
  std::string reason;  // empty when on_device
};

// One placement per node, decided from the operation and DeviceInfo alone.
std::vector<Placement> PlaceNodes(const Graph& graph, const DeviceInfo& device, const LowerOptions& options);

// PlaceNodes, then moves single nodes that are too large for the device to the host, as in Lower. It does not consider
// the memory that all nodes need together. Preconditions as Lower's.
std::vector<Placement> PlaceNodesThatFit(const Graph& graph, const DeviceInfo& device, const LowerOptions& options);

// Precondition: the graph is valid, its shapes are inferred, the passes have run. Nodes that do not fit the device go
// to the host, each with its reason; if nothing else helps, all do. kUnsupported names an operator that nothing can
// run.
Result<Plan> Lower(const Graph& graph, const DeviceInfo& device, const LowerOptions& options);

}  // namespace hearth

#endif  // HEARTH_CORE_LOWERING_LOWER_H_
