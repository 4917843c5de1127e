// What tuning needs to know about a network: which layers can run in several ways, and each of them alone as a plan
// that can be timed. Pure: whoever has a device and a clock measures (frontends/engine/tuner.h).
#ifndef HEARTH_CORE_LOWERING_TUNABLE_LAYERS_H_
#define HEARTH_CORE_LOWERING_TUNABLE_LAYERS_H_

#include <string>
#include <vector>

#include "core/device/device_info.h"
#include "core/device/kernel_choice.h"
#include "core/device/options.h"
#include "core/graph/graph.h"
#include "core/plan/plan.h"

namespace hearth {

struct TunableLayer {
  std::string key;
  int node = 0;                          // the first node of this key
  std::vector<KernelChoice> candidates;  // at least two; the first is what rules choose
};

// The tunable layers of a graph that passes have rewritten, each key once. Only nodes that the device takes.
std::vector<TunableLayer> TunableLayers(const Graph& graph, const DeviceInfo& device, const LowerOptions& options);

// One node of `graph` alone: its inputs are the graph's, its constants are zeros. `graph` may go.
Graph LayerGraph(const Graph& graph, int node);

// The plan that runs a LayerGraph by one candidate.
Result<Plan> LowerLayer(const Graph& layer, const DeviceInfo& device, const LowerOptions& options,
                        const KernelChoice& candidate);

}  // namespace hearth

#endif  // HEARTH_CORE_LOWERING_TUNABLE_LAYERS_H_
