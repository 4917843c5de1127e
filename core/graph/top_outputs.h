// Classifiers' outputs: only the best few scores.
#ifndef HEARTH_CORE_GRAPH_TOP_OUTPUTS_H_
#define HEARTH_CORE_GRAPH_TOP_OUTPUTS_H_

#include <cstddef>
#include <vector>

#include "core/graph/graph.h"

namespace hearth {

// Each output of real numbers that is one row, or one row per element of its first dimension ([N], [B, N], [B, 1, 1,
// N]), of more than `k` becomes the k largest, largest first, under its name. Their indices in the row become an
// additional int32 output after all others, named "<name>_indices". An output with more than one scale stays as it is:
// a place in the row decides what its number means. Returns the indices of these outputs, in the order of the new ones.
// Precondition: k >= 1, shapes are known.
std::vector<size_t> KeepTopOfOutputs(Graph& graph, int32_t k);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_TOP_OUTPUTS_H_
