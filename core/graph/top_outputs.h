// Answers of classifiers: the best few instead of all.
#ifndef HEARTH_CORE_GRAPH_TOP_OUTPUTS_H_
#define HEARTH_CORE_GRAPH_TOP_OUTPUTS_H_

#include <cstddef>
#include <vector>

#include "core/graph/graph.h"

namespace hearth {

// Each output of real numbers that is one row, or one row per element of its first dimension ([N], [B, N], [B, 1, 1,
// N]), of more than `k` becomes the k largest, largest first, under its name; their places in the row become an output
// more, int32, behind all others, named "<name>_indices". Returns which outputs it was, by index, in the order of the
// new ones. Precondition: k >= 1, shapes are known.
std::vector<size_t> KeepTopOfOutputs(Graph& graph, int32_t k);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_TOP_OUTPUTS_H_
