// What the reader of ONNX files makes of large constants.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/graph/evaluate.h"
#include "frontends/onnx/reader.h"
#include "tests/testing/onnx_writer.h"

namespace hearth {
namespace {

using ::testing::ElementsAre;

// More than 2^24 elements go in and out where such a factor becomes float32.
TEST(OnnxConstants, AFactorOfManyIntegersIsNotConvertedInEachRun) {
  constexpr int64_t kRows = 1024, kColumns = 8210;
  OnnxGraph graph;
  graph.Input("a", {"1", std::to_string(kRows)}, 2).Output("y", 6);
  graph.Stored("b", {kRows, kColumns}, 3, std::string(kRows * kColumns, '\2'));
  graph.Node("MatMulInteger", {"a", "b"}, {"y"});
  const std::string file = OnnxFile(graph);
  const Result<Graph> read = ReadOnnxModel(std::as_bytes(std::span(file)), {});
  ASSERT_TRUE(read.ok()) << read.status().message();
  for (const Node& node : read->nodes()) {
    const bool is_cast = std::holds_alternative<Cast>(node.op);
    EXPECT_FALSE(is_cast && read->IsConstant(node.inputs[0])) << node.name;
  }
}

TEST(OnnxConstants, AZeroPointIsTakenOffAFactor) {
  OnnxGraph graph;
  graph.Input("a", {"1", "2"}, 2).Output("y", 6);
  graph.Stored("b", {2, 2}, 2, std::string_view("\1\2\3\4", 4)).Stored("zero", {}, 2, std::string_view("\3", 1));
  graph.Node("MatMulInteger", {"a", "b", "", "zero"}, {"y"});
  const std::string file = OnnxFile(graph);
  const Result<Graph> read = ReadOnnxModel(std::as_bytes(std::span(file)), {});
  ASSERT_TRUE(read.ok()) << read.status().message();
  const ReferenceTensor a{{1, 2}, {10, 100}};
  const auto answers = EvaluateGraph(*read, std::span(&a, 1));
  ASSERT_TRUE(answers.ok()) << answers.status().message();
  EXPECT_THAT((*answers)[0].values, ElementsAre(-20, 90));  // of -2, -1, 0 and 1
}

// Of Gemm: a second copy of a classifier would be most of what reading its file takes.
TEST(OnnxConstants, WeightsOfALayerAreNotTurnedThereAndBack) {
  OnnxGraph graph;
  graph.Input("a", {"1", "2"}).Output("y").Floats("w", {3, 2}, {1, 2, 3, 4, 5, 6}).Floats("b", {3}, {0, 1, 2});
  graph.Node("Gemm", {"a", "w", "b"}, {"y"}, {OnnxGraph::Integer("transB", 1)});
  const std::string file = OnnxFile(graph);
  const Result<Graph> read = ReadOnnxModel(std::as_bytes(std::span(file)), {});
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->constants().size(), 2u);
  const ReferenceTensor a{{1, 2}, {10, 100}};
  const auto answers = EvaluateGraph(*read, std::span(&a, 1));
  ASSERT_TRUE(answers.ok()) << answers.status().message();
  EXPECT_THAT((*answers)[0].values, ElementsAre(210, 431, 652));
}

}  // namespace
}  // namespace hearth
