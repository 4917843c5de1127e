// What tuning needs to know about a network: which layers can run in several ways, and each of them alone as a plan
// that can be timed. Pure: whoever has a device and a clock measures (frontends/engine/tuner.h).
#ifndef HEARTH_CORE_TUNING_H_
#define HEARTH_CORE_TUNING_H_

#include <span>
#include <string>
#include <vector>

#include "core/device_info.h"
#include "core/graph.h"
#include "core/kernel_choice.h"
#include "core/options.h"
#include "core/plan.h"

namespace hearth {

inline constexpr int kTuningVersion = 1;  // part of the key of every record; raise it when choices change their meaning

// A layer's shape content: operation, attributes, types and shapes of its operands, precision, read path. No names and
// no weights, so that networks share what was measured.
std::string LayerKey(const Graph& graph, const Node& node, const DeviceInfo& device, const LowerOptions& options);

struct TunableLayer {
  std::string key;
  int node = 0;                          // the first node of this key
  std::vector<KernelChoice> candidates;  // at least two; the first is what rules choose
};

// Of a graph that passes have rewritten; each key once. Only nodes that the device takes.
std::vector<TunableLayer> TunableLayers(const Graph& graph, const DeviceInfo& device, const LowerOptions& options);

// One node of `graph` alone: its inputs are the graph's, its constants are zeros. `graph` may go.
Graph LayerGraph(const Graph& graph, int node);

// The plan that runs a LayerGraph by one candidate.
Result<Plan> LowerLayer(const Graph& layer, const DeviceInfo& device, const LowerOptions& options,
                        const KernelChoice& candidate);

// A title, then a line per layer, for the cache. FromText refuses anything else (kMalformedInput).
std::string ToText(const TuningTable& table);
Result<TuningTable> TuningTableFromText(std::string_view text);

}  // namespace hearth

#endif  // HEARTH_CORE_TUNING_H_
