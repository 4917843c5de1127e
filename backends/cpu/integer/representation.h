// Chooses the nodes of a program that compute on quantized values in their stored form.
#ifndef HEARTH_BACKENDS_CPU_INTEGER_REPRESENTATION_H_
#define HEARTH_BACKENDS_CPU_INTEGER_REPRESENTATION_H_

#include <set>
#include <span>
#include <vector>

#include "core/graph/graph.h"

namespace hearth {

// One entry for each of `nodes`. True for nodes with integer kernels, and for nodes that only move bytes if most of
// these are made in stored form or come from outside. Nodes of values in `decides_indices` are computed in floats, as
// are those in `refused` (indices into graph.nodes()).
std::vector<bool> NodesInIntegers(const Graph& graph, std::span<const int> nodes,
                                  const std::vector<bool>& decides_indices, const std::set<int>& refused);

}  // namespace hearth

#endif  // HEARTH_BACKENDS_CPU_INTEGER_REPRESENTATION_H_
