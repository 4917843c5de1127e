// Weights that an ONNX file holds in 8 bits, behind DequantizeLinear.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/graph/block_scales.h"
#include "core/graph/evaluate.h"
#include "frontends/onnx/reader.h"
#include "tests/testing/onnx_writer.h"

namespace hearth {
namespace {

using ::testing::ElementsAre;

constexpr int kOnnxInt8 = 3;

Graph ReadFrom(const std::string& file) {
  Result<Graph> read = ReadOnnxModel(std::as_bytes(std::span(file)), {});
  EXPECT_TRUE(read.ok()) << read.status().message();
  return read.ok() ? *std::move(read) : Graph();
}

std::vector<double> AnswerOf(const Graph& graph, const Shape& shape, const std::vector<double>& numbers) {
  const ReferenceTensor x{shape, numbers};
  const auto answers = EvaluateGraph(graph, std::span(&x, 1));
  EXPECT_TRUE(answers.ok()) << answers.status().message();
  return answers.ok() ? (*answers)[0].values : std::vector<double>();
}

// The weights of the graph's only node with some.
TensorDesc WeightsOf(const Graph& graph) {
  for (const Node& node : graph.nodes()) {
    if (node.inputs.size() > 1 && graph.IsConstant(node.inputs[1])) return graph.value(node.inputs[1]).desc;
  }
  ADD_FAILURE() << "no node has weights";
  return {};
}

TEST(OnnxQuantizedWeights, OfAProductStayInEightBits) {
  OnnxGraph graph;
  graph.Input("x", {"1", "2"}).Output("y").Stored("q", {2, 3}, kOnnxInt8, "\x01\x02\x03\xff\xfe\xfd");
  graph.Floats("s", {3}, {0.5, 2, 4}).Node("DequantizeLinear", {"q", "s"}, {"w"}, {OnnxGraph::Integer("axis", 1)});
  const std::string file = OnnxFile(graph.Node("MatMul", {"x", "w"}, {"y"}));
  const Graph read = ReadFrom(file);
  EXPECT_EQ(WeightsOf(read).dtype, DType::kInt8);
  EXPECT_THAT(AnswerOf(read, {1, 2}, {10, 1}), ElementsAre(4.5, 36, 108));
}

// One row of weights keeps its bytes when it is turned; its scales are of the other dimension then.
TEST(OnnxQuantizedWeights, OfOneRowKeepTheirScales) {
  OnnxGraph graph;
  graph.Input("x", {"1", "1"}).Output("y").Stored("q", {1, 3}, kOnnxInt8, "\x01\x02\xff");
  graph.Floats("s", {3}, {0.5, 2, 4}).Node("DequantizeLinear", {"q", "s"}, {"w"}, {OnnxGraph::Integer("axis", 1)});
  const std::string file = OnnxFile(graph.Node("MatMul", {"x", "w"}, {"y"}));
  const Graph read = ReadFrom(file);
  EXPECT_EQ(WeightsOf(read).dtype, DType::kInt8);
  EXPECT_THAT(AnswerOf(read, {1, 1}, {2}), ElementsAre(1, 8, -8));
}

TEST(OnnxQuantizedWeights, OfDepthwisePointsKeepTheirScales) {
  OnnxGraph graph;
  graph.Input("x", {"1", "2", "1", "1"}).Output("y").Stored("q", {2, 1, 1, 1}, kOnnxInt8, "\x03\xfe");
  graph.Floats("s", {2}, {0.5, 4}).Stored("z", {2}, kOnnxInt8, {"\x01\x00", 2});
  graph.Node("DequantizeLinear", {"q", "s", "z"}, {"w"}, {OnnxGraph::Integer("axis", 0)});
  graph.Node("Conv", {"x", "w"}, {"y"}, {OnnxGraph::Integer("group", 2)});
  const std::string file = OnnxFile(graph);
  const Graph read = ReadFrom(file);
  EXPECT_EQ(WeightsOf(read).dtype, DType::kInt8);
  EXPECT_THAT(AnswerOf(read, {1, 2, 1, 1}, {10, 1}), ElementsAre(10, -8));
}

TEST(OnnxQuantizedWeights, OfOneDimensionStayInEightBits) {
  OnnxGraph graph;
  graph.Input("x", {"1", "1", "3"}).Output("y").Stored("q", {2, 1, 2}, kOnnxInt8, "\x01\x02\x03\xff");
  graph.Floats("s", {2}, {0.5, 4}).Node("DequantizeLinear", {"q", "s"}, {"w"}, {OnnxGraph::Integer("axis", 0)});
  const std::string file = OnnxFile(graph.Node("Conv", {"x", "w"}, {"y"}));
  const Graph read = ReadFrom(file);
  EXPECT_EQ(WeightsOf(read).dtype, DType::kInt8);
  EXPECT_THAT(AnswerOf(read, {1, 1, 3}, {1, 2, 3}), ElementsAre(2.5, 4, 4, 12));
}

// [[1, 2], [3, 4], [5, 6], [7, 8]], and scales of two rows each: 1 and 10, then 100 and 1000.
constexpr std::string_view kByDepth("\1\2\3\4\5\6\7\10", 8), kByRow("\1\3\5\7\2\4\6\10", 8);
const std::vector<float> kScalesByDepth = {1, 10, 100, 1000}, kScalesByRow = {1, 100, 10, 1000};

// A graph whose 'w' are these, with an output 'y'. axis: the one of the blocks.
OnnxGraph WithBlocks(int64_t axis) {
  const bool by_depth = axis == 0;
  OnnxGraph graph;
  graph.Output("y").Stored("q", by_depth ? std::vector<int64_t>{4, 2} : std::vector<int64_t>{2, 4}, kOnnxInt8,
                           by_depth ? kByDepth : kByRow);
  graph.Floats("s", {2, 2}, by_depth ? kScalesByDepth : kScalesByRow);
  graph.Node("DequantizeLinear", {"q", "s"}, {"w"},
             {OnnxGraph::Integer("axis", axis), OnnxGraph::Integer("block_size", 2)});
  return graph;
}

TEST(OnnxQuantizedWeights, OfBlocksAreTurnedForALayer) {
  OnnxGraph graph = WithBlocks(0);
  graph.Input("x", {"1", "4"});
  const std::string file = OnnxFile(graph.Node("MatMul", {"x", "w"}, {"y"}), 21);
  const Graph read = ReadFrom(file);
  EXPECT_NE(BlocksOf(WeightsOf(read)), nullptr);
  EXPECT_EQ(WeightsOf(read).shape, (Shape{2, 4}));
  EXPECT_THAT(AnswerOf(read, {1, 4}, {1, 1, 1, 1}), ElementsAre(1204, 14060));
}

TEST(OnnxQuantizedWeights, OfBlocksInRowsAreALayersBehindATranspose) {
  OnnxGraph graph = WithBlocks(1);
  graph.Input("x", {"1", "4"});
  const std::string file =
      OnnxFile(graph.Node("Transpose", {"w"}, {"turned"}).Node("MatMul", {"x", "turned"}, {"y"}), 21);
  const Graph read = ReadFrom(file);
  EXPECT_NE(BlocksOf(WeightsOf(read)), nullptr);
  EXPECT_THAT(AnswerOf(read, {1, 4}, {1, 1, 1, 1}), ElementsAre(1204, 14060));
}

// 4 bits, with scales of blocks for one layer and one scale for the other.
TEST(OnnxQuantizedWeights, OfTwoLayersMayHaveScalesOfTwoKinds) {
  OnnxGraph graph;
  graph.Input("x", {"1", "4"})
      .Output("y")
      .Output("z")
      .Stored("q", {2, 4}, 22, "\x21\x43\x65\x07")
      .Floats("one", {}, {2});
  graph.Floats("s", {2, 2}, kScalesByRow).Node("DequantizeLinear", {"q", "one"}, {"v"});
  graph.Node("DequantizeLinear", {"q", "s"}, {"w"},
             {OnnxGraph::Integer("axis", 1), OnnxGraph::Integer("block_size", 2)});
  graph.Node("Gemm", {"x", "v"}, {"y"}, {OnnxGraph::Integer("transB", 1)});
  graph.Node("Gemm", {"x", "w"}, {"z"}, {OnnxGraph::Integer("transB", 1)});
  const std::string file = OnnxFile(graph, 21);
  const Graph read = ReadFrom(file);
  EXPECT_EQ(read.Validate().message(), "");
  const ReferenceTensor x{{1, 4}, {1, 1, 1, 1}};
  const auto answers = EvaluateGraph(read, std::span(&x, 1));
  ASSERT_TRUE(answers.ok()) << answers.status().message();
  EXPECT_THAT((*answers)[0].values, ElementsAre(20, 36));     // 2 * (1 + 2 + 3 + 4), 2 * (5 + 6 + 7 + 0)
  EXPECT_THAT((*answers)[1].values, ElementsAre(703, 7110));  // 3 + 100 * 7, 10 * 11 + 1000 * 7
}

TEST(OnnxQuantizedWeights, OfBlocksAreFloatsForOtherReaders) {
  OnnxGraph graph = WithBlocks(0);
  graph.Input("x", {"4", "2"});
  const std::string file = OnnxFile(graph.Node("Add", {"x", "w"}, {"y"}), 21);
  EXPECT_THAT(AnswerOf(ReadFrom(file), {4, 2}, {0, 0, 0, 0, 0, 0, 0, 0}),
              ElementsAre(1, 20, 3, 40, 500, 6000, 700, 8000));
}

// 16 x 32 halves: rows of 1, the first of them of 2.
OnnxGraph WithHalves() {
  std::string halves;
  for (int k = 0; k < 16 * 32; ++k) halves += std::string("\x00", 1) + (k < 32 ? "\x40" : "\x3c");
  OnnxGraph graph;
  graph.Output("y").Stored("w", {16, 32}, 10, halves);
  graph.Node("Cast", {"w"}, {"floats"}, {OnnxGraph::Integer("to", 1)});
  return graph;
}

TEST(OnnxQuantizedWeights, OfHalvesStayHalvesBehindCastAndTranspose) {
  OnnxGraph graph = WithHalves();
  graph.Input("x", {"1", "32"}).Node("Transpose", {"floats"}, {"turned"});
  const std::string file = OnnxFile(graph.Node("MatMul", {"x", "turned"}, {"y"}));
  const Graph read = ReadFrom(file);
  EXPECT_EQ(WeightsOf(read).dtype, DType::kFloat16);
  const std::vector<double> answer = AnswerOf(read, {1, 32}, std::vector<double>(32, 0.5));
  ASSERT_EQ(answer.size(), 16u);
  EXPECT_EQ(answer[0], 32);
  EXPECT_EQ(answer[15], 16);
}

TEST(OnnxQuantizedWeights, OfHalvesAreMadeFloatsFromTheFile) {
  OnnxGraph graph = WithHalves();
  graph.Input("x", {"16", "32"});
  const std::string file = OnnxFile(graph.Node("Add", {"x", "floats"}, {"y"}));
  const Graph read = ReadFrom(file);
  EXPECT_EQ(AnswerOf(read, {16, 32}, std::vector<double>(512, 1.0))[0], 3);
  const auto is_made = [](const Constant& constant) {
    return constant.elements != nullptr && constant.elements->form().type == FileType::kFloat16;
  };
  EXPECT_TRUE(std::ranges::any_of(read.constants(), is_made));
}

TEST(OnnxQuantizedWeights, AreFloatsForOtherReaders) {
  OnnxGraph graph;
  graph.Input("x", {"2"}).Output("y").Stored("q", {2}, kOnnxInt8, "\x01\xfe").Floats("s", {}, {0.5});
  graph.Node("DequantizeLinear", {"q", "s"}, {"w"}).Node("Identity", {"w"}, {"v"}).Node("Add", {"x", "v"}, {"y"});
  const std::string file = OnnxFile(graph);
  EXPECT_THAT(AnswerOf(ReadFrom(file), {2}, {1, 2}), ElementsAre(1.5, 1));
}

}  // namespace
}  // namespace hearth
