// Runs nodes whose operator the program registered.
#ifndef HEARTH_CORE_GRAPH_OPS_CUSTOM_H_
#define HEARTH_CORE_GRAPH_OPS_CUSTOM_H_

#include <cstddef>
#include <span>
#include <string>

#include "core/graph/graph.h"

namespace hearth {

// Operands and results lie in the memory that is given, as their values are stored; one without elements for an absent
// operand. An error names operator and node.
Status RunCustom(const Graph& graph, const Node& node, std::span<const std::span<const std::byte>> inputs,
                 std::span<const std::span<std::byte>> outputs);

// Names and versions of all such operators of the graph, each once; empty without any.
std::string CustomOpsIn(const Graph& graph);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_OPS_CUSTOM_H_
