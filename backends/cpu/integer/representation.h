// Which nodes of a program compute on quantized values as they are stored.
#ifndef HEARTH_BACKENDS_CPU_INTEGER_REPRESENTATION_H_
#define HEARTH_BACKENDS_CPU_INTEGER_REPRESENTATION_H_

#include <set>
#include <span>
#include <vector>

#include "core/graph/graph.h"

namespace hearth {

// For each of `nodes`, in order. Nodes with integer kernels do, and those that only move bytes where the most of what
// they move is made so, or given from outside. `decides_indices`: values for which floats are computed with care; their
// nodes stay in floats, as do those of `refused` (indices into graph.nodes()).
std::vector<bool> NodesInIntegers(const Graph& graph, std::span<const int> nodes,
                                  const std::vector<bool>& decides_indices, const std::set<int>& refused);

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_INTEGER_REPRESENTATION_H_
