// Shapes and values of matrix products, transposed convolution, pooling with argmax and sampling.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/graph/evaluate.h"
#include "core/graph/passes/pass.h"
#include "tests/testing/one_node.h"

namespace hearth {
namespace {

using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::ElementsAre;
using testing::Evaluate;
using testing::EvaluateAll;
using testing::FirstShape;
using ::testing::HasSubstr;
using testing::InputsOf;
using testing::NodeInput;
using testing::OneNode;

TEST(BatchMatMul, SwapsTheLastTwoDimensionsOfAdjointOperands) {
  EXPECT_EQ(FirstShape(BatchMatMul{}, {{2, 3}, {3, 4}}), "2x4");
  EXPECT_EQ(FirstShape(BatchMatMul{true, false}, {{3, 2}, {3, 4}}), "2x4");
  EXPECT_EQ(FirstShape(BatchMatMul{false, true}, {{5, 2, 3}, {5, 4, 3}}), "5x2x4");
  EXPECT_THAT(FirstShape(BatchMatMul{}, {{2, 3}, {4, 3}}), HasSubstr("sums over 3 and 4 elements"));
}

TEST(BatchMatMul, BroadcastsLeadingDimensions) {
  EXPECT_EQ(FirstShape(BatchMatMul{}, {{2, 1, 5, 6}, {3, 6, 7}}), "2x3x5x7");
  EXPECT_EQ(FirstShape(BatchMatMul{}, {{5, 6}, {4, 1, 3, 6, 7}}), "4x1x3x5x7");
  EXPECT_THAT(FirstShape(BatchMatMul{}, {{2, 5, 6}, {3, 6, 7}}), HasSubstr("don't go together"));
  EXPECT_THAT(FirstShape(BatchMatMul{}, {{6}, {6, 7}}), HasSubstr("has rank 1"));
  EXPECT_THAT(FirstShape(BatchMatMul{}, {{1, 1, 1, 1, 5, 6}, {6, 7}}), HasSubstr("has rank 6"));
}

TEST(BatchMatMul, MultipliesEveryWayRound) {
  const NodeInput a = {{2, 3}, {1, 2, 3, 4, 5, 6}}, a_turned = {{3, 2}, {1, 4, 2, 5, 3, 6}};
  const NodeInput b = {{3, 2}, {1, 10, 0, 1, 2, 0}}, b_turned = {{2, 3}, {1, 0, 2, 10, 1, 0}};
  EXPECT_THAT(Evaluate(BatchMatMul{false, false}, {a, b}), ElementsAre(7, 12, 16, 45));
  EXPECT_THAT(Evaluate(BatchMatMul{true, false}, {a_turned, b}), ElementsAre(7, 12, 16, 45));
  EXPECT_THAT(Evaluate(BatchMatMul{false, true}, {a, b_turned}), ElementsAre(7, 12, 16, 45));
  EXPECT_THAT(Evaluate(BatchMatMul{true, true}, {a_turned, b_turned}), ElementsAre(7, 12, 16, 45));
}

TEST(BatchMatMul, GivesEveryPairOfABroadcastItsProduct) {
  EXPECT_THAT(Evaluate(BatchMatMul{}, {{{2, 1, 1, 1}, {1, 2}}, {{3, 1, 1}, {10, 20, 30}}}),
              ElementsAre(10, 20, 30, 20, 40, 60));
}

TEST(TransposeConv, ComputesItsSizeAsMediaPipeDoes) {
  TransposeConv conv{.stride_h = 2, .stride_w = 3};
  EXPECT_EQ(FirstShape(conv, {{1, 4, 5, 3}, {7, 2, 5, 3}, {7}}), "1x8x17x7");
  conv.padding.mode = PaddingMode::kSame;
  EXPECT_EQ(FirstShape(conv, {{1, 4, 5, 3}, {7, 2, 5, 3}}), "1x8x14x7");
  EXPECT_EQ(FirstShape(conv, {{1, 3, 5, 3}, {7, 2, 1, 3}}), "1x5x13x7");
  conv.height = 9;
  conv.width = 100;
  EXPECT_EQ(FirstShape(conv, {{1, 4, 5, 3}, {7, 2, 5, 3}}), "1x9x100x7");
}

TEST(TransposeConv, RefusesHostileAttributes) {
  const std::vector<Shape> inputs = {{1, 4, 5, 3}, {7, 2, 5, 3}};
  EXPECT_THAT(FirstShape(TransposeConv{.stride_h = 0}, inputs), HasSubstr("stride 0x1"));
  EXPECT_THAT(FirstShape(TransposeConv{.stride_h = testing::kHuge}, inputs), HasSubstr("each must be 1 to"));
  EXPECT_THAT(FirstShape(TransposeConv{.height = 4}, inputs), HasSubstr("an output of 4x0"));
  EXPECT_THAT(FirstShape(TransposeConv{.height = testing::kHuge, .width = testing::kHuge}, inputs),
              HasSubstr("an output of"));
  EXPECT_THAT(FirstShape(TransposeConv{.padding = {PaddingMode::kExplicit, -1}}, inputs), HasSubstr("padding -1"));
  EXPECT_THAT(FirstShape(TransposeConv{.padding = {PaddingMode::kExplicit, 9}}, inputs),
              HasSubstr("an output of -4x9"));
  EXPECT_THAT(FirstShape(TransposeConv{}, {{1, 4, 5, 3}, {7, 2, 5, 4}}), HasSubstr("reads 4 channels"));
}

TEST(TransposeConv, AddsEachInputTimesTheFilterWhereItsWindowLies) {
  // Two pixels a stride of 2 apart; the filter's three taps overlap in the middle.
  const NodeInput x = {{1, 1, 2, 1}, {1, 10}}, filter = {{1, 1, 3, 1}, {1, 2, 3}};
  EXPECT_THAT(Evaluate(TransposeConv{.stride_w = 2}, {x, filter}), ElementsAre(1, 2, 13, 20, 30));
  // SAME: the last tap has no room (total padding 1, all of it at the end).
  TransposeConv same{.height = 1, .width = 4, .stride_h = 1, .stride_w = 2, .padding = {PaddingMode::kSame}};
  EXPECT_THAT(Evaluate(same, {x, filter}), ElementsAre(1, 2, 13, 20));
  // Pixels that no window reaches hold the bias, and the activation comes last.
  TransposeConv wide{.height = 1, .width = 7, .stride_w = 2, .activation = Activation::kRelu6};
  EXPECT_THAT(Evaluate(wide, {x, filter, {{1}, {-1.5}}}), ElementsAre(0, 0.5, 6, 6, 6, 0, 0));
}

TEST(TransposeConv, SumsOverInputChannelsForEachOutput) {
  EXPECT_THAT(Evaluate(TransposeConv{}, {{{1, 1, 1, 2}, {3, 4}}, {{2, 1, 1, 2}, {1, 1, 10, -1}}}), ElementsAre(7, 26));
}

TEST(MaxPoolArgmax, SaysWhereInTheWindowTheFirstMaximumStood) {
  MaxPoolArgmax2D pool{.kernel_h = 2, .kernel_w = 2};
  pool.window = {.stride_h = 2, .stride_w = 2, .padding = {PaddingMode::kSame}};
  const auto outputs =
      EvaluateAll(pool, {{{1, 3, 3, 1}, {1, 5, -2, 5, 0, -1, -3, -4, -9}}}, {DType::kFloat32, DType::kFloat32});
  EXPECT_THAT(outputs[0].values, ElementsAre(5, -1, -3, -9));
  EXPECT_THAT(outputs[1].values,
              ElementsAre(DoubleNear(1.1, 1e-6), DoubleNear(2.1, 1e-6), DoubleNear(0.1, 1e-6), DoubleNear(0.1, 1e-6)));
}

TEST(MaxPoolArgmax, CountsPositionsFromTheWindowsOriginInThePadding) {
  MaxPoolArgmax2D pool{.kernel_h = 1, .kernel_w = 3, .activation = Activation::kRelu};
  pool.window.padding.mode = PaddingMode::kSame;
  const auto outputs = EvaluateAll(pool, {{{1, 1, 2, 1}, {-7, -8}}}, {DType::kFloat32, DType::kFloat32});
  EXPECT_THAT(outputs[0].values, ElementsAre(0, 0));
  EXPECT_THAT(outputs[1].values, ElementsAre(DoubleNear(1.1, 1e-6), DoubleNear(0.1, 1e-6)));
}

TEST(MaxPoolArgmax, NeedsTwoOutputsAndADenseWindow) {
  EXPECT_EQ(FirstShape(MaxPoolArgmax2D{.kernel_h = 2}, {{1, 4, 4, 3}}, 2), "1x3x4x3");
  EXPECT_THAT(FirstShape(MaxPoolArgmax2D{}, {{1, 4, 4, 3}}, 1), HasSubstr("has 1 outputs, needs 2"));
  EXPECT_THAT(FirstShape(MaxPoolArgmax2D{.window = {.dilation_h = 2}}, {{1, 4, 4, 3}}, 2), HasSubstr("dilated by 2x1"));
  EXPECT_THAT(FirstShape(MaxPoolArgmax2D{.kernel_h = testing::kHuge}, {{1, 4, 4, 3}}, 2), HasSubstr("a window of"));
}

TEST(MaxUnpool, PutsEachElementAtItsPosition) {
  EXPECT_THAT(Evaluate(MaxUnpool2D{2, 2, 2, 2}, {{{1, 1, 2, 1}, {7, 8}}, {{1, 1, 2, 1}, {1.1, 2.1}}}),
              ElementsAre(0, 7, 0, 0, 0, 0, 8, 0));
}

TEST(MaxUnpool, IgnoresPositionsOutsideOfTheWindow) {
  EXPECT_THAT(Evaluate(MaxUnpool2D{1, 2, 1, 2}, {{{1, 1, 2, 1}, {7, 8}}, {{1, 1, 2, 1}, {-1.0, 2.1}}}), Each(0));
}

TEST(MaxUnpool, LetsTheLastWindowWinWhereTheyOverlap) {
  EXPECT_THAT(Evaluate(MaxUnpool2D{1, 2, 1, 1}, {{{1, 1, 2, 1}, {7, 8}}, {{1, 1, 2, 1}, {1.1, 0.1}}}),
              ElementsAre(0, 8, 0, 0));
}

TEST(MaxUnpool, RefusesHostileAttributes) {
  EXPECT_THAT(FirstShape(MaxUnpool2D{0, 1, 1, 1}, {{1, 2, 2, 1}, {1, 2, 2, 1}}), HasSubstr("a window of 0x1"));
  EXPECT_THAT(FirstShape(MaxUnpool2D{1, testing::kHuge, 1, 1}, {{1, 2, 2, 1}, {1, 2, 2, 1}}),
              HasSubstr("each must be"));
  EXPECT_THAT(FirstShape(MaxUnpool2D{2, 2, 2, 2}, {{1, 2, 2, 1}, {1, 2, 1, 1}}), HasSubstr("indices for"));
}

TEST(Resampler, InterpolatesAndFadesToZeroOutside) {
  const NodeInput image = {{1, 2, 2, 1}, {1, 2, 3, 4}};
  // (column, row): a corner, the middle, half outside at the right, far outside.
  EXPECT_THAT(Evaluate(Resampler{}, {image, {{1, 1, 4, 2}, {0, 0, 0.5, 0.5, 1.5, 1, -1, 0}}}),
              ElementsAre(1, 2.5, 2, 0));
}

TEST(Resampler, NeedsTwoCoordinatesForEachImage) {
  EXPECT_EQ(FirstShape(Resampler{}, {{2, 5, 6, 7}, {2, 3, 4, 2}}), "2x3x4x7");
  EXPECT_THAT(FirstShape(Resampler{}, {{2, 5, 6, 7}, {2, 3, 4, 1}}), HasSubstr("two coordinates"));
  EXPECT_THAT(FirstShape(Resampler{}, {{2, 5, 6, 7}, {1, 3, 4, 2}}), HasSubstr("two coordinates"));
}

TEST(L2Pool, IsTheRootOfTheMeanSquareWithoutPadding) {
  const Pool2D pool{PoolKind::kL2, 1, 2, {.padding = {PaddingMode::kSame}}, Activation::kNone};
  EXPECT_THAT(Evaluate(pool, {{{1, 1, 2, 1}, {1, -7}}}), ElementsAre(5, 7));
}

TEST(ComputedBias, MustBeAVector) {
  EXPECT_EQ(FirstShape(Conv2D{}, {{1, 2, 2, 3}, {4, 1, 1, 3}, {1, 1, 1, 4}}), "1x2x2x4");
  EXPECT_THAT(FirstShape(Conv2D{}, {{1, 2, 2, 3}, {4, 1, 1, 3}, {4, 1}}), HasSubstr("not a vector"));
}

TEST(FuseActivation, LeavesNodesWithSeveralOutputsAlone) {
  Graph graph =
      OneNode(MaxPoolArgmax2D{.kernel_h = 2, .kernel_w = 2}, {{{1, 4, 4, 1}, {}}}, {DType::kFloat32, DType::kFloat32});
  for (ValueId& output : graph.outputs) {
    const ValueId relu = graph.AddValue({.name = "relu"});
    graph.AddNode({.op = Unary{.kind = UnaryKind::kRelu}, .inputs = {output}, .outputs = {relu}});
    output = relu;
  }
  ASSERT_TRUE(InferShapes(graph).ok());
  const auto verdict = FuseActivation(graph, DeviceInfo{});
  ASSERT_TRUE(verdict.ok()) << verdict.status().message();
  EXPECT_EQ(graph.nodes().size(), 3u);
  EXPECT_EQ(graph.Validate().message(), "");
}

}  // namespace
}  // namespace hearth
