// Segmentation maps: the class of each pixel in place of its scores.
#ifndef HEARTH_CORE_GRAPH_CLASS_MAPS_H_
#define HEARTH_CORE_GRAPH_CLASS_MAPS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/graph/graph.h"

namespace hearth {

// Each output [B, H, W, C] of real numbers with at least two scores for each of several pixels becomes the int32 map
// [B, H, W] of the largest scores' positions, the first of equals, under its name. The scores' name gets "_scores".
// The model's file decides which outputs these are, not the shapes of the moment: else another input shape would change
// an output's type and rank. `declared` has the file's shape of each output; there -1 counts as several. Returns the
// indices of the changed outputs. Preconditions: shapes are known, `declared` is as long as the outputs.
std::vector<size_t> MapClassesOfOutputs(Graph& graph, std::span<const std::vector<int32_t>> declared);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_CLASS_MAPS_H_
