// A graph as text, for tests and dumps.
#ifndef HEARTH_CORE_GRAPH_GRAPH_TEXT_H_
#define HEARTH_CORE_GRAPH_GRAPH_TEXT_H_

#include <string>

#include "core/graph/graph.h"

namespace hearth {

// One line per value and node. Constant contents are written whole up to 64 elements, else as "fill". Tests and
// benchmarks read such texts (tests/testing/graph_from_text.h).
std::string ToText(const Graph& graph);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_GRAPH_TEXT_H_
