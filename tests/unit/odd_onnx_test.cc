// ONNX files that contradict themselves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/graph/evaluate.h"
#include "frontends/onnx/reader.h"
#include "tests/testing/onnx_writer.h"

namespace hearth {
namespace {

using ::testing::HasSubstr;

std::string RefusalOf(const OnnxGraph& graph) {
  const std::string file = OnnxFile(graph);
  return ReadOnnxModel(std::as_bytes(std::span(file))).status().message();
}

TEST(OddOnnxFiles, AGraphThatContradictsItselfIsRefused) {
  const auto with = [](const auto& add) {
    OnnxGraph graph;
    graph.Input("x", {"1", "2", "4", "4"});
    add(graph);
    return RefusalOf(graph);
  };
  EXPECT_THAT(with([](OnnxGraph& graph) { graph.Output("y").Node("Relu", {"x"}, {"y"}).Node("Neg", {"x"}, {"y"}); }),
              HasSubstr("'y' is made twice"));
  EXPECT_THAT(with([](OnnxGraph& graph) { graph.Output("y", 7).Node("Relu", {"x"}, {"y"}); }),
              HasSubstr("output 'y' is declared as int64, but its node makes float32"));
  EXPECT_THAT(with([](OnnxGraph& graph) {
                graph.Output("y").Node("Transpose", {"x"}, {"y"}, {OnnxGraph::Integers("perm", {0, 1, 1, 3})});
              }),
              HasSubstr("a dimension stands twice in perm"));
  EXPECT_THAT(
      with([](OnnxGraph& graph) { graph.Output("y").Node("Softmax", {"x"}, {"y"}, {OnnxGraph::Real("axis", 1)}); }),
      HasSubstr("attribute 'axis' has type 1, not 2"));
  EXPECT_THAT(with([](OnnxGraph& graph) {
                graph.Output("y").Floats("w", {2, 2, 1, 1}, {1, 2, 3, 4});
                graph.Node("Conv", {"x", "w"}, {"y"}, {OnnxGraph::Integers("kernel_shape", {3, 3})});
              }),
              HasSubstr("kernel_shape [3,3] with a filter of shape 2x2x1x1"));
  EXPECT_THAT(
      with([](OnnxGraph& graph) { graph.Input("z", {"1099511627776"}).Output("y").Node("Relu", {"z"}, {"y"}); }),
      HasSubstr("input 'z': a dimension of 1099511627776"));
  EXPECT_THAT(with([](OnnxGraph& graph) {
                graph.Input("s", {"1", "3", "4"}).Output("y").Floats("w", {4, 12}, std::vector<float>(48, 1.0f));
                graph.Floats("b", {12}, std::vector<float>(12, 0.0f));
                const std::vector<std::string> attributes = {OnnxGraph::Integer("num_heads", 2),
                                                             OnnxGraph::Integers("qkv_hidden_sizes", {6, 6})};
                graph.Node("Attention", {"s", "w", "b"}, {"y"}, attributes, "com.microsoft");
              }),
              HasSubstr("queries, keys and values in shape"));
}

TEST(OddOnnxFiles, OfTwoConstantsOfOneNameTheLastCountsAsInOnnxruntime) {
  OnnxGraph graph;
  graph.Input("x", {"1"}).Output("y").Floats("w", {1}, {1}).Floats("w", {1}, {5}).Node("Add", {"x", "w"}, {"y"});
  const std::string file = OnnxFile(graph);
  const Result<Graph> read = ReadOnnxModel(std::as_bytes(std::span(file)));
  ASSERT_TRUE(read.ok()) << read.status().message();
  const auto answers = EvaluateGraph(*read, std::vector<ReferenceTensor>{{{1}, {0}}});
  ASSERT_TRUE(answers.ok()) << answers.status().message();
  EXPECT_EQ((*answers)[0].values, std::vector<double>{5});
}

}  // namespace
}  // namespace hearth
