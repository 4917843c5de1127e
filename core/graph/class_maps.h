// Segmentation maps: the class of each pixel in place of its scores.
#ifndef HEARTH_CORE_GRAPH_CLASS_MAPS_H_
#define HEARTH_CORE_GRAPH_CLASS_MAPS_H_

#include <cstddef>
#include <vector>

#include "core/graph/graph.h"

namespace hearth {

// Each output [B, H, W, C] of real numbers with at least two scores for each of several pixels becomes the int32 map
// [B, H, W] of the largest scores' positions, the first of equals, under its name. The scores' name gets "_scores".
// Returns the indices of these outputs. Precondition: shapes are known.
std::vector<size_t> MapClassesOfOutputs(Graph& graph);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_CLASS_MAPS_H_
