// What tuning keeps of a network: a key per layer, and the record of what was found as text.
#ifndef HEARTH_CORE_PLAN_TUNING_H_
#define HEARTH_CORE_PLAN_TUNING_H_

#include <string>
#include <string_view>

#include "core/device/device_info.h"
#include "core/device/kernel_choice.h"
#include "core/device/options.h"
#include "core/graph/graph.h"

namespace hearth {

// A layer's shape content: operation, attributes, types and shapes of its operands, precision, read path. No names and
// no weights, so that networks share what was measured.
std::string LayerKey(const Graph& graph, const Node& node, const DeviceInfo& device, const LowerOptions& options);

// A title, then a line per layer, for the cache. FromText refuses anything else (kMalformedInput).
std::string ToText(const TuningTable& table);
Result<TuningTable> TuningTableFromText(std::string_view text);

}  // namespace hearth

#endif  // HEARTH_CORE_PLAN_TUNING_H_
