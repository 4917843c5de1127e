// Sequences that the reader of ONNX files can't make lists of tensors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <string>

#include "frontends/onnx/reader.h"
#include "tests/testing/onnx_writer.h"

namespace hearth {
namespace {

using ::testing::HasSubstr;

OnnxGraph WithSequence() {
  OnnxGraph graph;
  graph.Input("x", {"2", "3"}).Input("n", {}, 7).Output("y").Int64s("two", {}, {2}).Int64s("three", {}, {3});
  return graph.Node("SplitToSequence", {"x"}, {"s"});
}

std::string ErrorOf(const OnnxGraph& graph) {
  const std::string file = OnnxFile(graph);
  return ReadOnnxModel(std::as_bytes(std::span(file)), {}).status().message();
}

TEST(OnnxSequences, AreNoTensors) {
  EXPECT_THAT(ErrorOf(WithSequence().Node("Relu", {"s"}, {"y"})), HasSubstr("'s' is a sequence"));
  EXPECT_THAT(ErrorOf(WithSequence().Node("Identity", {"s"}, {"y"})), HasSubstr("output 'y': 'y' is a sequence"));
  EXPECT_THAT(ErrorOf(WithSequence().Node("SequenceLength", {"x"}, {"y"})), HasSubstr("operand 0 is no sequence"));
}

TEST(OnnxSequences, HaveTheLengthAndThePlacesThatTheFileSays) {
  EXPECT_THAT(ErrorOf(WithSequence().Node("SequenceAt", {"s", "two"}, {"y"})),
              HasSubstr("outside of its sequence of 2"));
  EXPECT_THAT(ErrorOf(WithSequence().Node("SequenceAt", {"s", "n"}, {"y"})), HasSubstr("fix what it holds"));
  EXPECT_THAT(ErrorOf(WithSequence().Node("SequenceInsert", {"s", "x", "three"}, {"y"})), HasSubstr("outside"));
  OnnxGraph emptied = WithSequence();
  emptied.Node("SequenceErase", {"s"}, {"t"}).Node("SequenceErase", {"t"}, {"u"});
  EXPECT_THAT(ErrorOf(OnnxGraph(emptied).Node("SequenceErase", {"u"}, {"y"})), HasSubstr("without tensors"));
  EXPECT_THAT(ErrorOf(emptied.Node("ConcatFromSequence", {"u"}, {"y"}, {OnnxGraph::Integer("axis", 0)})),
              HasSubstr("without tensors"));
  OnnxGraph uneven = WithSequence();
  uneven.Int64s("sizes", {2}, {1, 3}).Node("SplitToSequence", {"x", "sizes"}, {"t"}, {OnnxGraph::Integer("axis", 1)});
  EXPECT_THAT(ErrorOf(uneven.Node("SequenceAt", {"t", "two"}, {"y"})), HasSubstr("do not make up dimension 1"));
}

TEST(OnnxSequences, AreCarriedByLoopsOfAKnownNumberOfTurns) {
  OnnxGraph body, around = WithSequence();
  body.Input("i", {}, 7).Input("c", {}, 9).Input("v", {}).Output("c", 9).Output("w");
  body.Node("SequenceInsert", {"v", "x"}, {"w"});
  around.Node("Loop", {"n", "", "s"}, {"t"}, {OnnxGraph::Subgraph("body", body)});
  EXPECT_THAT(ErrorOf(around.Node("ConcatFromSequence", {"t"}, {"y"}, {OnnxGraph::Integer("axis", 0)})),
              HasSubstr("data end it"));
}

TEST(OnnxSequences, AreNotMadeByBranches) {
  OnnxGraph branch, around = WithSequence();
  branch.Output("w").Node("SequenceInsert", {"s", "x"}, {"w"});
  around.Node("Cast", {"n"}, {"is"}, {OnnxGraph::Integer("to", 9)});
  around.Node("If", {"is"}, {"t"},
              {OnnxGraph::Subgraph("then_branch", branch), OnnxGraph::Subgraph("else_branch", branch)});
  EXPECT_THAT(ErrorOf(around.Node("ConcatFromSequence", {"t"}, {"y"}, {OnnxGraph::Integer("axis", 0)})),
              HasSubstr("makes a sequence"));
}

}  // namespace
}  // namespace hearth
