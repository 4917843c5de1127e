// From graph to plan: which nodes the device takes, their kernels, and where every tensor lies.
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

// Where a node runs, and why not on the device where it doesn't.
struct Placement {
  bool on_device = false;
  std::string reason;  // empty when on_device
};

// One per node, from core's knowledge of the operations and DeviceInfo alone.
std::vector<Placement> PlaceNodes(const Graph& graph, const DeviceInfo& device, const LowerOptions& options);

// PlaceNodes, with what is too large for the device on the host, each node by itself: as Lower does it, but for the
// memory that all of them need together. Preconditions as Lower's.
std::vector<Placement> PlaceNodesThatFit(const Graph& graph, const DeviceInfo& device, const LowerOptions& options);

// Precondition: the graph is valid, its shapes are inferred, the passes have run.
// What does not fit the device goes to the host, each node by itself with its reason, all of them where nothing else
// helps. kUnsupported names an operator that nothing can run.
Result<Plan> Lower(const Graph& graph, const DeviceInfo& device, const LowerOptions& options);

}  // namespace hearth

#endif  // HEARTH_CORE_LOWERING_LOWER_H_
