// Graphs from the text form that core/graph/op_text.cc describes.
#ifndef HEARTH_TESTS_TESTING_GRAPH_FROM_TEXT_H_
#define HEARTH_TESTS_TESTING_GRAPH_FROM_TEXT_H_

#include <string_view>

#include "core/graph/graph.h"
#include "core/graph/op_text.h"

namespace hearth {

// GraphFromText(ToText(g)) is equal to g but for constant contents that were written as a pattern: these become numbers
// that depend on name and type only. Errors: kMalformedInput with the line and the column; kResourceExhausted for a
// constant of more than 2^28 elements.
Result<Graph> GraphFromText(std::string_view text);

}  // namespace hearth

#endif  // HEARTH_TESTS_TESTING_GRAPH_FROM_TEXT_H_
