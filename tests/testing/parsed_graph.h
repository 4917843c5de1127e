// Graphs and plans of graph texts.
#ifndef HEARTH_TESTS_TESTING_PARSED_GRAPH_H_
#define HEARTH_TESTS_TESTING_PARSED_GRAPH_H_

#include <string_view>

#include "core/lowering/lower.h"

namespace hearth::testing {

// The graph of a text; expects that it is valid and agrees with inference.
Graph Parsed(std::string_view text);
// Expects that it can be lowered.
Plan Lowered(const Graph& graph, const DeviceInfo& device, const LowerOptions& options = {});

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_TESTING_PARSED_GRAPH_H_
