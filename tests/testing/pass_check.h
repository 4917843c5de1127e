// Passes as data: a graph text before, its nodes after, and equal results of both on random inputs.
#ifndef HEARTH_TESTS_TESTING_PASS_CHECK_H_
#define HEARTH_TESTS_TESTING_PASS_CHECK_H_

#include <string>
#include <string_view>

#include "core/graph/passes/pass.h"

namespace hearth::testing {

using PassFunction = Result<Verdict> (*)(Graph&, const DeviceInfo&);

// The graph of a text; expects that it is valid and says what inference says.
Graph Parsed(std::string_view text);
// The lines of inputs, nodes and outputs; values and constants that nobody reads any more stay in a graph.
std::string Structure(const Graph& graph);
void ExpectEqualResults(const Graph& before, const Graph& after);
// That it is valid and that its descriptions are those of inference.
void ExpectValid(const Graph& after);

// Runs the pass and returns what it made; expects everything but the structure.
Graph Rewritten(PassFunction pass, std::string_view before);
void ExpectRewrite(PassFunction pass, std::string_view before, std::string_view after);
void ExpectUnchanged(PassFunction pass, std::string_view text);

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_TESTING_PASS_CHECK_H_
