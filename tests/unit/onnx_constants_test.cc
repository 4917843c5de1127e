// What the reader of ONNX files makes of large constants.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

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

// Its numbers have 8 bits here, so what is quantized with it would go up to 127.
TEST(OnnxConstants, AZeroPointOf4BitsIsKnownWhereverItComesFrom) {
  const auto error_of = [](const OnnxGraph& graph) {
    const std::string file = OnnxFile(graph);
    return std::string(ReadOnnxModel(std::as_bytes(std::span(file)), {}).status().message());
  };
  const auto begin = [] {
    OnnxGraph graph;
    graph.Input("x", {"3"}).Output("y").Floats("s", {}, {0.5}).Stored("four", {1}, 22, std::string_view("\3", 1));
    return graph;
  };
  OnnxGraph reshaped = begin(), around = begin(), like = begin(), body;
  reshaped.Int64s("scalar", {0}, {}).Node("Reshape", {"four", "scalar"}, {"z"});
  reshaped.Node("QuantizeLinear", {"x", "s", "z"}, {"q"}).Node("DequantizeLinear", {"q", "s", "z"}, {"y"});
  EXPECT_THAT(error_of(reshaped), ::testing::HasSubstr("elements of int4"));
  like.Node("CastLike", {"x", "four"}, {"q"}).Node("CastLike", {"q", "x"}, {"y"});
  EXPECT_THAT(error_of(like), ::testing::HasSubstr("elements of int4"));
  body.Input("n", {}, 7).Input("c", {}, 9).Input("v", {"3"}).Output("c", 9).Output("w");
  body.Node("QuantizeLinear", {"v", "s", "four"}, {"q"}).Node("DequantizeLinear", {"q", "s", "four"}, {"w"});
  around.Input("turns", {}, 7).Node("Loop", {"turns", "", "x"}, {"y"}, {OnnxGraph::Subgraph("body", body)});
  EXPECT_THAT(error_of(around), ::testing::HasSubstr("elements of int4"));
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

std::vector<double> AnswerOf(const OnnxGraph& graph, const ReferenceTensor& x) {
  const std::string file = OnnxFile(graph);
  const Result<Graph> read = ReadOnnxModel(std::as_bytes(std::span(file)), {});
  EXPECT_TRUE(read.ok()) << read.status().message();
  if (!read.ok()) return {};
  const auto is_lstm = [](const Node& node) { return std::holds_alternative<Lstm>(node.op); };
  EXPECT_EQ(std::ranges::count_if(read->nodes(), is_lstm), 1);
  const auto answers = EvaluateGraph(*read, std::span(&x, 1));
  EXPECT_TRUE(answers.ok()) << answers.status().message();
  return answers.ok() ? (*answers)[0].values : std::vector<double>();
}

// Its products take x and h in 8 bits. These numbers are whole in steps of x, and one unit is 255 steps of its own.
TEST(OnnxConstants, AQuantizedLstmIsALayerWithTheGatesOfItsWeights) {
  const ReferenceTensor x{{2, 1, 2}, {0.0, 2.55, 0.51, 1.02}};
  OnnxGraph quantized, plain;
  quantized.Input("x", {"2", "1", "2"}).Output("y");
  quantized.Stored("w", {1, 2, 4}, 3, std::string_view("\1\2\3\4\5\6\7\0", 8));
  quantized.Stored("r", {1, 1, 4}, 3, std::string_view("\7\6\5\4", 4)).Floats("scale", {1}, {0.25f});
  quantized.Stored("one", {1}, 3, std::string_view("\1", 1)).Stored("none", {1}, 3, std::string_view("\0", 1));
  quantized.Floats("scales", {1, 4}, {0.5f, 0.25f, 0.125f, 1.0f});
  quantized.Node("DynamicQuantizeLSTM", {"x", "w", "r", "", "", "", "", "", "scales", "one", "scale", "none"}, {"y"},
                 {OnnxGraph::Integer("hidden_size", 1)}, "com.microsoft");
  plain.Input("x", {"2", "1", "2"}).Output("y");
  plain.Floats("w", {1, 4, 2}, {0.0f, 2.0f, 0.25f, 1.25f, 0.25f, 0.75f, 3.0f, -1.0f});
  plain.Floats("r", {1, 4, 1}, {1.75f, 1.5f, 1.25f, 1.0f});
  plain.Node("LSTM", {"x", "w", "r"}, {"y"}, {OnnxGraph::Integer("hidden_size", 1)});
  const std::vector<double> wanted = AnswerOf(plain, x), given = AnswerOf(quantized, x);
  ASSERT_EQ(given.size(), 2u);
  for (size_t k = 0; k < 2; ++k) EXPECT_NEAR(given[k], wanted[k], 1e-6);
}

// One of four names lets the weights begin at a multiple of four bytes.
TEST(OnnxConstants, WeightsAtOddAddressesAreTurnedWithoutACopy) {
  for (const char* name : {"w", "ww", "www", "wwww"}) {
    OnnxGraph graph;
    graph.Input("x", {"1", "64"}).Output("y").Output("z").Floats(name, {64, 32}, std::vector<float>(64 * 32, 0.5f));
    graph.Node("Identity", {name}, {"tied"}).Node("MatMul", {"x", name}, {"y"}).Node("MatMul", {"x", "tied"}, {"z"});
    const std::string file = OnnxFile(graph);
    const Result<Graph> read = ReadOnnxModel(std::as_bytes(std::span(file)), {});
    ASSERT_TRUE(read.ok()) << read.status().message();
    const auto is_made = [](const Constant& constant) { return !constant.source && constant.bytes.size() >= 8192; };
    EXPECT_EQ(std::ranges::count_if(read->constants(), is_made), 0) << name;
    const ReferenceTensor x{{1, 64}, std::vector<double>(64, 1.0)};
    const auto answers = EvaluateGraph(*read, std::span(&x, 1));
    ASSERT_TRUE(answers.ok()) << answers.status().message();
    EXPECT_EQ((*answers)[1].values[31], 32) << name;
  }
}

// One over planes, as those of (2+1)-dimensional networks, and one over the depth.
TEST(OnnxConstants, ConvolutionsOfVolumesWithOneKindOfTapsArePictures) {
  OnnxGraph graph;
  graph.Input("x", {"1", "4", "5", "6", "7"}).Output("z");
  graph.Floats("planes", {8, 4, 1, 3, 3}, std::vector<float>(8 * 36, 0.5f));
  graph.Floats("depth", {4, 8, 3, 1, 1}, std::vector<float>(4 * 24, 0.25f));
  graph.Node("Conv", {"x", "planes"}, {"y"}, {OnnxGraph::Integers("pads", {0, 1, 1, 0, 1, 1})});
  graph.Node("Conv", {"y", "depth"}, {"z"}, {OnnxGraph::Integers("pads", {1, 0, 0, 1, 0, 0})});
  const std::string file = OnnxFile(graph);
  const Result<Graph> read = ReadOnnxModel(std::as_bytes(std::span(file)), {});
  ASSERT_TRUE(read.ok()) << read.status().message();
  for (const Node& node : read->nodes()) {
    const bool moves = std::holds_alternative<Transpose>(node.op) || std::holds_alternative<Reshape>(node.op);
    EXPECT_TRUE(moves || std::holds_alternative<Conv2D>(node.op)) << OpDefOf(node.op).name;
  }
}

TEST(OnnxConstants, ATableOfHalvesIsLookedUpAsItIs) {
  std::string halves(size_t{2} * 64 * 8, '\0');
  halves[2 * 8 * 7 + 1] = '\x3c';  // row 7 begins with 1
  OnnxGraph graph;
  graph.Input("rows", {"2"}, 7).Output("y").Stored("table", {64, 8}, 10, halves);
  const std::string file = OnnxFile(graph.Node("Gather", {"table", "rows"}, {"y"}));
  const Result<Graph> read = ReadOnnxModel(std::as_bytes(std::span(file)), {});
  ASSERT_TRUE(read.ok()) << read.status().message();
  for (const Constant& constant : read->constants()) EXPECT_TRUE(constant.source || constant.bytes.size() < 1024);
  const ReferenceTensor rows{{2}, {3, 7}};
  const auto answers = EvaluateGraph(*read, std::span(&rows, 1));
  ASSERT_TRUE(answers.ok()) << answers.status().message();
  EXPECT_EQ((*answers)[0].values[0], 0);
  EXPECT_EQ((*answers)[0].values[8], 1);
}

// Halves of a layer's weights, and the floats of a list, as older exporters write them.
TEST(OnnxConstants, HalvesAndListsOfFloatsStayInTheFile) {
  const std::string halves(size_t{2} * 64 * 64, '\x3c');  // 1.05859375
  OnnxGraph graph;
  graph.Input("x", {"1", "64"}).Output("y").Output("z").Stored("halves", {64, 64}, 10, halves);
  graph.Listed("floats", {64, 32}, std::vector<float>(64 * 32, 0.5f));
  graph.Node("MatMul", {"x", "halves"}, {"y"}).Node("MatMul", {"x", "floats"}, {"z"});
  const std::string file = OnnxFile(graph);
  const Result<Graph> read = ReadOnnxModel(std::as_bytes(std::span(file)), {});
  ASSERT_TRUE(read.ok()) << read.status().message();
  for (const Constant& constant : read->constants()) EXPECT_TRUE(constant.source || constant.bytes.size() < 4096);
  const ReferenceTensor x{{1, 64}, std::vector<double>(64, 1.0)};
  const auto answers = EvaluateGraph(*read, std::span(&x, 1));
  ASSERT_TRUE(answers.ok()) << answers.status().message();
  EXPECT_EQ((*answers)[0].values[63], 64 * 1.05859375);
  EXPECT_EQ((*answers)[1].values[31], 32);
}

// Networks without their weights, as onnx's own package has them.
TEST(OnnxConstants, FewNumbersThatFillLargeWeightsAreSpreadAtEachRun) {
  OnnxGraph graph;
  graph.Input("x", {"1", "2048"}).Output("y").Int64s("sizes", {2}, {2048, 1024}).Int64s("back", {2}, {1024, 2048});
  std::string before = "x";
  for (int k = 0; k < 4; ++k) {  // 8 MiB each, of which Hearth's order would be another 8
    const std::string number = std::to_string(k), weights = "w" + number, after = k == 3 ? "y" : "h" + number;
    graph.Node("ConstantOfShape", {k % 2 == 0 ? "sizes" : "back"}, {weights});
    graph.Node("MatMul", {before, weights}, {after});
    before = after;
  }
  const std::string file = OnnxFile(graph);
  const Result<Graph> read = ReadOnnxModel(std::as_bytes(std::span(file)), {});
  ASSERT_TRUE(read.ok()) << read.status().message();
  size_t held = 0;
  for (const Constant& constant : read->constants()) held += constant.bytes.size();
  EXPECT_LT(held, size_t{16} << 20);
}

}  // namespace
}  // namespace hearth
