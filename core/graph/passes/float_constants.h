// Constants that passes read as numbers.
#ifndef HEARTH_CORE_GRAPH_PASSES_FLOAT_CONSTANTS_H_
#define HEARTH_CORE_GRAPH_PASSES_FLOAT_CONSTANTS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/graph/graph.h"

namespace hearth {

// The numbers of a float32 constant; nothing for other values.
std::optional<std::vector<float>> FloatsOf(const Graph& graph, ValueId id);

// Whether it is a float32 constant of one element, or of `channels` elements all along its last dimension.
bool IsPerChannel(const Graph& graph, ValueId id, int32_t channels);

// The numbers of such a constant, one per channel; nothing for other values. There may be 2^31 channels: ask
// Graph::HasRoomFor first.
std::optional<std::vector<float>> ReadPerChannel(const Graph& graph, ValueId id, int32_t channels);

// Whether weights with these largest magnitudes, one per channel, can be multiplied by these scales and still be held
// in 16 bits as well as before. Passes don't know the precision that a plan will have, so this counts for all.
bool KeepRangeOfHalves(std::span<const float> largest, std::span<const float> scales);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_PASSES_FLOAT_CONSTANTS_H_
