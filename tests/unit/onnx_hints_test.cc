// What messages about ONNX files say that the caller can choose.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hearth/model.h"
#include "tests/testing/onnx_writer.h"

namespace hearth {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Result<Model> ReadFromMemory(const OnnxGraph& graph, const ModelOptions& options = {}) {
  const std::string file = OnnxFile(graph);
  return Model::FromMemory(std::as_bytes(std::span(file)), "file", options);
}

// y = rate == 16 ? -x : x without two of its three elements.
OnnxGraph TwoRates() {
  OnnxGraph then_branch, else_branch, graph;
  then_branch.Output("t").Node("Neg", {"x"}, {"t"});
  else_branch.Output("e").Int64s("pieces", {2}, {1, 1}).Node("Split", {"x", "pieces"}, {"e", ""});
  graph.Input("x", {"3"}).Input("rate", {}, 7).Output("y").Int64s("sixteen", {}, {16});
  graph.Node("Equal", {"rate", "sixteen"}, {"is_it"});
  graph.Node("If", {"is_it"}, {"y"},
             {OnnxGraph::Subgraph("then_branch", then_branch), OnnxGraph::Subgraph("else_branch", else_branch)});
  return graph;
}

TEST(OnnxHints, ABranchThatDoesNotFitIsAvoidedByFixingTheInputThatChoosesIt) {
  const Result<Model> model = ReadFromMemory(TwoRates());
  ASSERT_FALSE(model.ok());
  EXPECT_THAT(model.status().message(),
              HasSubstr("; the input 'rate' decides which branch is taken: fix what it holds (--constant 'rate=...')"));
}

TEST(OnnxHints, AnInputThatChoosesABranchIsNotNamedWhereDataChoose) {
  OnnxGraph then_branch, else_branch, graph;
  then_branch.Output("t").Node("Neg", {"x"}, {"t"});
  else_branch.Output("e").Node("Frob", {"x"}, {"e"}, {}, "own");
  graph.Input("x", {"1", "300"}).Output("y").Floats("zero", {}, {0});
  graph.Node("ReduceSum", {"x"}, {"sum"}, {OnnxGraph::Integer("keepdims", 0)});
  graph.Node("Greater", {"sum", "zero"}, {"is_above"});
  graph.Node("If", {"is_above"}, {"y"},
             {OnnxGraph::Subgraph("then_branch", then_branch), OnnxGraph::Subgraph("else_branch", else_branch)});
  const Result<Model> model = ReadFromMemory(graph);
  ASSERT_FALSE(model.ok());
  EXPECT_THAT(model.status().message(), AllOf(HasSubstr("Frob"), Not(HasSubstr("--constant"))));
}

// Joins rows of two columns: an input whose width is open has to have two as well.
OnnxGraph OpenSizes() {
  OnnxGraph graph;
  graph.Input("x", {"1", "1", "height", "width"}).Input("z", {"1", "1", "1", "2"}).Output("y");
  graph.Node("Concat", {"x", "z"}, {"y"}, {OnnxGraph::Integer("axis", 2)});
  return graph;
}

TEST(OnnxHints, AnOpenShapeIsNamedWhereTheFileCannotBeReadWithOnes) {
  const Result<Model> model = ReadFromMemory(OpenSizes());
  ASSERT_FALSE(model.ok());
  EXPECT_THAT(model.status().message(),
              HasSubstr("; the file leaves open the shape of input 'x' (1, 1, height, width): choose it with --shape "
                        "'NAME=...', since 1 is taken"));
  EXPECT_TRUE(ReadFromMemory(OpenSizes(), {.input_shapes = {{"x", {1, 1, 5, 2}}}}).ok());
  const Result<Model> other = ReadFromMemory(OpenSizes(), {.input_shapes = {{"x", {1, 1, 5, 3}}}});
  ASSERT_FALSE(other.ok());
  EXPECT_THAT(other.status().message(), Not(HasSubstr("leaves open")));
}

}  // namespace
}  // namespace hearth
