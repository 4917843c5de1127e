// Tests of passes as data: a graph text before, its nodes after, and equal results of both on random inputs.
#ifndef HEARTH_TESTS_TESTING_PASS_CHECK_H_
#define HEARTH_TESTS_TESTING_PASS_CHECK_H_

#include <string>
#include <string_view>

#include "core/graph/passes/pass.h"
#include "tests/testing/parsed_graph.h"

namespace hearth::testing {

using PassFunction = Result<Verdict> (*)(Graph&, const DeviceInfo&);

// The lines of inputs, nodes and outputs. A graph also keeps values and constants that nothing reads any more.
std::string Structure(const Graph& graph);
void ExpectEqualResults(const Graph& before, const Graph& after);
// Expects that the graph is valid and that its descriptions are the inferred ones.
void ExpectValid(const Graph& after);

// Runs the pass and returns its result; checks everything but the structure.
Graph Rewritten(PassFunction pass, std::string_view before);
void ExpectRewrite(PassFunction pass, std::string_view before, std::string_view after);
void ExpectUnchanged(PassFunction pass, std::string_view text);

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_TESTING_PASS_CHECK_H_
