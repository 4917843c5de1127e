// Less to carry back from a device: of a classifier's outputs only the best few scores, of a segmentation's scores only
// the class of each pixel.
#ifndef HEARTH_CORE_GRAPH_SHORTER_OUTPUTS_H_
#define HEARTH_CORE_GRAPH_SHORTER_OUTPUTS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/graph/graph.h"

namespace hearth {

// Each output of real numbers that is one row, or one row per element of its first dimension ([N], [B, N], [B, 1, 1,
// N]), of more than `k` becomes the k largest, largest first, under its name. Their indices in the row become an
// additional int32 output after all others, named "<name>_indices". An output with more than one scale stays as it is:
// a place in the row decides what its number means. Returns the indices of these outputs, in the order of the new ones.
// Precondition: k >= 1, shapes are known.
std::vector<size_t> KeepTopOfOutputs(Graph& graph, int32_t k);

// Each output [B, H, W, C] of real numbers with at least two scores for each of several pixels becomes the int32 map
// [B, H, W] of the largest scores' positions, the first of equals, under its name. The scores' name gets "_scores".
// The model's file decides which outputs these are, not the shapes of the moment: else another input shape would change
// an output's type and rank. `declared` has the file's shape of each output; there -1 counts as several. Returns the
// indices of the changed outputs. Preconditions: shapes are known, `declared` is as long as the outputs.
std::vector<size_t> MapClassesOfOutputs(Graph& graph, std::span<const std::vector<int32_t>> declared);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_SHORTER_OUTPUTS_H_
