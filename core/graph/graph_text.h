// A graph as text, for tests and dumps.
#ifndef HEARTH_CORE_GRAPH_GRAPH_TEXT_H_
#define HEARTH_CORE_GRAPH_GRAPH_TEXT_H_

#include <string>
#include <string_view>

#include "core/graph/graph.h"

namespace hearth {

// One line per value and node; FromText(ToText(g)) is equal to g but for constant contents,
// which are written whole up to 64 elements and as "fill" patterns otherwise.
std::string ToText(const Graph& graph);
Result<Graph> GraphFromText(std::string_view text);

}  // namespace hearth

#endif  // HEARTH_CORE_GRAPH_GRAPH_TEXT_H_
