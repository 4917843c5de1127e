#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "core/graph/evaluate.h"
#include "core/graph/graph.h"
#include "core/graph/op_text.h"
#include "tests/testing/graph_from_text.h"
#include "tests/testing/op_from_text.h"

namespace hearth {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kText[] = R"(graph "small"
%0 = input : float32[1x4x4x1] "x"
%1 = constant : float32[2x1x1x1] "filter" = {1, -0.1}
%2 = constant : float32[100] "big" = fill(pattern)
%3 = constant : int32[100] "same" = fill(-7)
%5 = value : uint8[1x2]{0.5/128} "left over"
%4 = conv_2d(%0, %1, none) stride=2x2 padding=same activation=relu6 : float32[1x2x2x2] "y" node "conv" operator 3
output %4
)";

TEST(GraphText, ReadsWhatItDescribes) {
  const Result<Graph> graph = GraphFromText(kText);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph->name, "small");
  EXPECT_THAT(graph->inputs, ElementsAre(0));
  EXPECT_THAT(graph->outputs, ElementsAre(4));
  const Node& node = graph->nodes().at(0);
  EXPECT_EQ(node.name, "conv");
  EXPECT_EQ(node.source_index, 3);
  EXPECT_THAT(node.inputs, ElementsAre(0, 1, kNoValue));
  Conv2D expected;
  expected.window = {.stride_h = 2, .stride_w = 2, .padding = {.mode = PaddingMode::kSame}};
  expected.activation = Activation::kRelu6;
  EXPECT_EQ(node.op, Op(expected));
  EXPECT_THAT(ConstantAsFloats(*graph, 1).value(), ElementsAre(1.0f, -0.1f));
  EXPECT_EQ(graph->value(5).desc.quantization, (Quantization{{0.5f}, {128}, 0}));
  EXPECT_EQ(graph->Validate().message(), "");
}

TEST(GraphText, WritesWhatItRead) {
  EXPECT_EQ(ToText(GraphFromText(kText).value()), kText);
}

TEST(GraphText, PatternsDifferByNameAndStayTheSame) {
  const Graph graph = GraphFromText(
                          "%0 = constant : float32[100] \"a\" = fill(pattern)\n"
                          "%1 = constant : float32[100] \"b\" = fill(pattern)\n"
                          "%2 = constant : float32[100] \"a\" = fill(pattern)\n")
                          .value();
  EXPECT_NE(ConstantAsFloats(graph, 0).value(), ConstantAsFloats(graph, 1).value());
  EXPECT_EQ(ConstantAsFloats(graph, 0).value(), ConstantAsFloats(graph, 2).value());
}

// Every operation with every attribute set to something that is not its default.
std::vector<Op> OpsWithAttributes() {
  const Window2D window = {
      .stride_h = 2, .stride_w = 3, .dilation_h = 4, .dilation_w = 5, .padding = {PaddingMode::kExplicit, 1, 2, 3, 4}};
  Window2D same;
  same.padding.mode = PaddingMode::kSame;
  Window2D same_with_sides = same;
  same_with_sides.padding.left = 9;
  return {Conv2D{window, Activation::kRelu},
          Conv2D{same, Activation::kReluN1To1},
          Conv2D{same_with_sides, Activation::kTanh},
          DepthwiseConv2D{window, Activation::kSigmoid},
          ConvInteger{window},
          Pool2D{PoolKind::kMax, 7, 8, window, Activation::kRelu6},
          Unary{UnaryKind::kLeakyRelu, 0.1f},
          Binary{BinaryKind::kDiv, Activation::kRelu},
          Concat{-3, Activation::kRelu},
          Resize{ResizeKind::kNearest, 11, 12, true, false},
          Resize{ResizeKind::kBilinear, 11, 12, false, true},
          Lstm{true, Activation::kTanh, 1.5f, 0.5f},
          Rnn{true, Activation::kRelu},
          Svdf{3, Activation::kRelu6},
          RandomBits{BitGenerator::kThreefry, 9},
          NonMaxSuppression{12, true},
          Reshape{{1, 2, 3, 4, 5, 6}},
          Softmax{0.3f},
          Reduce{ReduceKind::kProd, 0b101, true},
          ArgReduce{ArgKind::kMin, 2},
          TopK{7},
          CumSum{-2, true, true},
          L2Normalization{Activation::kRelu},
          LocalResponseNormalization{3, 2.0f, 0.5f, 0.75f},
          MeanVarianceNormalization{0b1000, 3, true, 1e-5f, Activation::kRelu},
          Gather{-1, 2},
          OneHot{0, 9},
          Pad{{0, 1, 2, 3}, {4, 5, 6, 7}, -1.5f},
          FullyConnected{true, Activation::kRelu},
          Reduce{ReduceKind::kMean, 0b0110, true},
          Transpose{{2, 0, 1}},
          Slice{{3, 1}, {2, 1}, {-2, 1}, {2}},
          Split{2, {3, 4, 5}},
          Pack{1},
          Unpack{2, 7},
          Tile{{1, 2, 3}},
          BroadcastTo{{2, 3, 4}},
          Reverse{0b1010},
          DepthToSpace{3},
          SpaceToDepth{4},
          SpaceToBatch{{2, 3}, {0, 1}, {4, 5}},
          BatchToSpace{{2}, {3}, {4}},
          MirrorPad{{1, 2}, {3, 4}, true},
          BatchMatMul{true, true},
          TransposeConv{5, 6, 7, 8, {PaddingMode::kExplicit, 1, 2, 3, 4}, Activation::kRelu},
          MaxPoolArgmax2D{7, 8, window, Activation::kRelu6},
          MaxUnpool2D{5, 6, 7, 8},
          UnknownOp{"a \"strange\" \\ op\nname: = %0"}};
}

TEST(GraphText, EveryOperationSurvivesTheRoundTrip) {
  std::vector<Op> ops = NamedOps();
  for (Op& op : OpsWithAttributes()) ops.push_back(std::move(op));
  Graph graph;
  const ValueId x = graph.AddValue({.name = "x", .desc = {.dtype = DType::kFloat16, .shape = {}}});
  graph.inputs = {x};
  for (const Op& op : ops) {
    const ValueId y = graph.AddValue({.name = "y\"\n\t\x01", .desc = {.shape = {1, 2, 3}}});
    const ValueId z = graph.AddValue(
        {.name = "z",
         .desc = {.dtype = DType::kInt8, .shape = {2, 2}, .quantization = Quantization{{0.1f, 3e-9f}, {0, -5}, 1}}});
    graph.AddNode({.op = op, .inputs = {x, kNoValue}, .outputs = {y, z}, .name = "n"});
  }
  graph.outputs = {x};
  const std::string text = ToText(graph);
  const Result<Graph> read = GraphFromText(text);
  ASSERT_TRUE(read.ok()) << read.status().message() << "\n" << text;
  ASSERT_EQ(read->nodes().size(), ops.size());
  for (size_t i = 0; i < ops.size(); ++i) {
    EXPECT_EQ(read->nodes()[i].op, ops[i]) << OpName(ops[i]);
    EXPECT_EQ(read->nodes()[i].inputs, graph.nodes()[i].inputs);
    EXPECT_EQ(read->nodes()[i].outputs, graph.nodes()[i].outputs);
  }
  for (size_t i = 0; i < graph.values().size(); ++i) {
    EXPECT_EQ(read->values()[i].name, graph.values()[i].name);
    EXPECT_EQ(read->values()[i].desc, graph.values()[i].desc);
  }
  EXPECT_EQ(ToText(*read), text);
}

TEST(GraphText, OperationNamesAreUnique) {
  std::vector<std::string> names;
  for (const Op& op : NamedOps()) names.push_back(OpName(op));
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

TEST(GraphText, ANodeWithoutOutputsSurvivesTheRoundTrip) {
  Graph graph;
  graph.AddNode({.op = UnknownOp{"PRINT"}});
  const Result<Graph> read = GraphFromText(ToText(graph));
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->nodes().size(), 1u);
}

TEST(GraphText, DamagedTextsGiveAnErrorOrAGraphThatCanBeChecked) {
  constexpr uint32_t kSeed = 20240607;
  std::mt19937 random(kSeed);
  const std::string alphabet = "%=:()[]{}/,x\"0129- \nabe";
  for (int round = 0; round < 3000; ++round) {
    std::string text = kText;
    for (int edit = 0; edit < 3; ++edit) text[random() % text.size()] = alphabet[random() % alphabet.size()];
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ", round " + std::to_string(round));
    Result<Graph> graph = GraphFromText(text);
    if (!graph.ok()) {
      EXPECT_EQ(graph.status().code(), StatusCode::kMalformedInput) << graph.status().message();
      continue;
    }
    if (graph->Validate().ok()) (void)InferShapes(*graph).ok();
    EXPECT_TRUE(GraphFromText(ToText(*graph)).ok()) << text;
  }
}

struct BadText {
  const char* text;
  const char* message;
};

TEST(GraphText, ErrorsNameLineAndCause) {
  const BadText bad[] = {
      {"graph \"a\"\n%0 = input float32[1] \"x\"", "line 2: expected ':' at column 12"},
      {"%0 = input : float33[1] \"x\"", "line 1: expected an element type instead of 'float33'"},
      {"%0 = input : float32[1x2x3x4x5x6x7x8x9] \"x\"", "at most 8 of them"},
      {"%0 = input : float32[1] x", "the value's name in quotes"},
      {"%0 = input : float32[1] \"x", "the value's name in quotes"},
      {"%0 = input : float32[1] \"x\" more", "the end of the line"},
      {"\n\n%0 = input : float32[1] \"x\"\n%0 = input : float32[1] \"x\"", "line 4: value %0 is defined twice"},
      {"%0 = relux(%1) : float32[1] \"x\"", "there is no operation 'relux'"},
      {"%0 = conv_2d(%1, %2) stride=2 : float32[1] \"x\"", "conv_2d: attribute stride can't be '2'"},
      {"%0 = conv_2d(%1, %2) strides=2x2 : float32[1] \"x\"", "conv_2d: has no attribute 'strides'"},
      {"%0 = conv_2d(%1, %2) padding=some : float32[1] \"x\"", "attribute padding can't be 'some'"},
      {"%0 = relu(%1 : float32[1] \"x\"", "expected ')' or ','"},
      {"%0 = relu(%-1) : float32[1] \"x\"", "a value such as %3"},
      {"%0 = relu(%1) : float32[1] \"x\"", "no line defines %1"},
      {"%1 = input : float32[1] \"x\"", "no line defines %0"},
      {"output %3", "no line defines %3"},
      {"%0 = constant : float32[3] \"c\" = {1, 2}", "a constant of 3 elements lists 2"},
      {"%0 = constant : float32[2] \"c\" = {1, 2, 3}", "expected '}' after 2 elements"},
      {"%0 = constant : float32[2] \"c\" = {1, b}", "element 1 of a constant is not a number"},
      {"%0 = constant : float32[2000000000x2000000000] \"c\" = fill(0)", "is too large"},
      {"hello", "expected"},
  };
  for (const BadText& item : bad) {
    const Result<Graph> graph = GraphFromText(item.text);
    ASSERT_FALSE(graph.ok()) << item.text;
    EXPECT_THAT(graph.status().message(), HasSubstr(item.message)) << item.text;
  }
}

}  // namespace
}  // namespace hearth
