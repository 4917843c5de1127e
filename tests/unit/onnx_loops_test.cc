// What loops of ONNX files read of the graphs around them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "core/graph/evaluate.h"
#include "frontends/onnx/reader.h"
#include "tests/testing/onnx_writer.h"

namespace hearth {
namespace {

// As optimizers write it, which put all constants of a file into its outermost graph.
TEST(OnnxLoops, AConstantAroundALoopMayDecideShapesInIt) {
  OnnxGraph body, graph;
  body.Input("n", {}, 7).Input("c", {}, 9).Input("v", {"1", "4"}).Output("c", 9).Output("w");
  body.Node("Reshape", {"v", "square"}, {"s"}).Node("MatMul", {"s", "twice"}, {"t"});
  body.Node("Reshape", {"t", "line"}, {"w"});
  graph.Input("x", {"1", "4"}).Input("given", {}, 7).Output("y");
  graph.Int64s("square", {2}, {2, 2}).Int64s("line", {2}, {1, -1}).Floats("twice", {2, 2}, {2, 0, 0, 2});
  graph.Node("Loop", {"given", "", "x"}, {"y"}, {OnnxGraph::Subgraph("body", body)});
  const std::string file = OnnxFile(graph);
  const Result<Graph> read = ReadOnnxModel(std::as_bytes(std::span(file)), {});
  ASSERT_TRUE(read.ok()) << read.status().message();
  const auto is_loop = [](const Node& node) { return std::holds_alternative<Loop>(node.op); };
  EXPECT_TRUE(std::ranges::any_of(read->nodes(), is_loop));
  const std::vector<ReferenceTensor> inputs = {{{1, 4}, {1, 2, 3, 4}}, {{}, {2}}};
  const auto answers = EvaluateGraph(*read, inputs);
  ASSERT_TRUE(answers.ok()) << answers.status().message();
  EXPECT_THAT((*answers)[0].values, ::testing::ElementsAre(4, 8, 12, 16));
}

TEST(OnnxLoops, AValueOfALoopIsNotCalledAnInputThatAConstantFixes) {
  OnnxGraph body, graph;
  body.Input("n", {}, 7).Input("c", {}, 9).Input("v", {"4"}).Output("c", 9).Output("w");
  body.Node("Reshape", {"v", "sizes"}, {"r"}).Node("Relu", {"r"}, {"w"});
  graph.Input("x", {"4"}).Input("given", {}, 7).Input("sizes", {"1"}, 7).Output("y");
  graph.Node("Loop", {"given", "", "x"}, {"y"}, {OnnxGraph::Subgraph("body", body)});
  const std::string file = OnnxFile(graph);
  const Status status = ReadOnnxModel(std::as_bytes(std::span(file)), {}).status();
  EXPECT_THAT(status.message(), ::testing::HasSubstr("a value of the loop"));
  EXPECT_THAT(status.message(), ::testing::Not(::testing::HasSubstr("--constant 'loop_")));
}

// A table of 5 rows and as many turns as data say: written out, turn 5 would look up row 5.
TEST(OnnxLoops, ATurnThatDataNeverReachIsNoErrorOfTheFile) {
  OnnxGraph body, graph;
  body.Input("n", {}, 7).Input("c", {}, 9).Input("v", {"2"}).Output("c", 9).Output("w");
  body.Node("Gather", {"table", "n"}, {"row"}).Node("Add", {"v", "row"}, {"w"});
  graph.Input("x", {"2"}).Input("given", {}, 7).Output("y");
  graph.Floats("table", {5, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  graph.Node("Loop", {"given", "", "x"}, {"y"}, {OnnxGraph::Subgraph("body", body)});
  const std::string file = OnnxFile(graph);
  const Result<Graph> read = ReadOnnxModel(std::as_bytes(std::span(file)), {});
  ASSERT_TRUE(read.ok()) << read.status().message();
  const std::vector<ReferenceTensor> inputs = {{{2}, {100, 200}}, {{}, {3}}};
  const auto answers = EvaluateGraph(*read, inputs);
  ASSERT_TRUE(answers.ok()) << answers.status().message();
  EXPECT_THAT((*answers)[0].values, ::testing::ElementsAre(109, 212));
}

}  // namespace
}  // namespace hearth
