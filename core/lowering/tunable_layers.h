// Prepares tuning of a network: which layers have several candidate kernels, and each layer alone as a plan that can be
// timed. Pure: runtime/plans/tuner.h has the device and the clock.
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

// The tunable layers of a graph that passes have rewritten, each key once. Only nodes that the device runs.
std::vector<TunableLayer> TunableLayers(const Graph& graph, const DeviceInfo& device, const LowerOptions& options);

// A graph of one node of `graph`: the node's inputs are the graph's inputs, its constants are zeros. It does not refer
// to `graph`.
Graph LayerGraph(const Graph& graph, int node);

// The plan that runs a LayerGraph with one candidate.
Result<Plan> LowerLayer(const Graph& layer, const DeviceInfo& device, const LowerOptions& options,
                        const KernelChoice& candidate);

}  // namespace hearth

#endif  // HEARTH_CORE_LOWERING_TUNABLE_LAYERS_H_
