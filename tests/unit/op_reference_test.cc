#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "core/graph/evaluate.h"
#include "core/graph/op_def.h"
#include "core/graph/ops/elementwise_table.h"
#include "tests/testing/one_node.h"

namespace hearth {
namespace {

using ::testing::DoubleEq;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using testing::Evaluate;
using testing::NodeInput;
using ::testing::Pointwise;
using testing::Window;

// 1, 2, 3, ...
NodeInput Counting(const Shape& shape) {
  NodeInput input{shape, std::vector<double>(static_cast<size_t>(shape.element_count()))};
  std::iota(input.values.begin(), input.values.end(), 1.0);
  return input;
}

const NodeInput kOnes3x3 = {{1, 3, 3, 1}, std::vector<double>(9, 1.0)};

TEST(Reference, SamePaddingPutsTheOddPixelAtTheEnd) {
  // 4x4 with stride 2 and a 3x3 kernel needs one row and column of padding: at the bottom and right.
  EXPECT_THAT(Evaluate(Conv2D{Window(2, 1, PaddingMode::kSame)}, {Counting({1, 4, 4, 1}), kOnes3x3}),
              ElementsAre(54, 45, 72, 54));
  // A 2x2 kernel at stride 1 likewise.
  EXPECT_THAT(
      Evaluate(Conv2D{Window(1, 1, PaddingMode::kSame)}, {Counting({1, 2, 2, 1}), {{1, 2, 2, 1}, {1, 10, 100, 1000}}}),
      ElementsAre(4321, 402, 43, 4));
}

TEST(Reference, ConvolutionAddsUpChannelsBiasAndActivation) {
  // Two input channels, two outputs: sum and difference, plus bias; relu6 cuts both ends.
  Conv2D conv;
  conv.activation = Activation::kRelu6;
  EXPECT_THAT(Evaluate(conv, {{{1, 1, 3, 2}, {1, 2, 5, 1, 3, 4}}, {{2, 1, 1, 2}, {1, 1, 1, -1}}, {{2}, {0.5, -0.5}}}),
              ElementsAre(3.5, 0, 6, 3.5, 6, 0));
}

TEST(Reference, ConvolutionWithGroupsReadsItsOwnChannelsOnly) {
  // Four channels in two groups, two outputs each.
  EXPECT_THAT(Evaluate(Conv2D{}, {Counting({1, 1, 1, 4}), {{4, 1, 1, 2}, {1, 0, 0, 1, 10, 0, 0, 10}}}),
              ElementsAre(1, 2, 30, 40));
}

TEST(Reference, ConvolutionWithExplicitPaddingAndDilation) {
  // One row: 0 [1 2 3 4] 0 0, taps two apart.
  Conv2D conv{{.dilation_w = 2, .padding = {PaddingMode::kExplicit, 0, 0, 1, 2}}};
  EXPECT_THAT(Evaluate(conv, {Counting({1, 1, 4, 1}), {{1, 1, 3, 1}, {1, 10, 100}}}), ElementsAre(420, 31, 42));
}

TEST(Reference, ConvolutionOfABatchWithManyChannels) {
  // 7 input channels go through the blocked and the remaining loop; each output sums channel * weight.
  const NodeInput x = Counting({2, 1, 1, 7});
  EXPECT_THAT(Evaluate(Conv2D{}, {x, {{1, 1, 1, 7}, {1, 2, 3, 4, 5, 6, 7}}}), ElementsAre(140, 336));
}

TEST(Reference, DilatedDepthwiseSkipsPixels) {
  // 5x5 counting image, taps two apart, valid: corners, edges and centre of the image.
  EXPECT_THAT(Evaluate(DepthwiseConv2D{Window(1, 2, PaddingMode::kValid)},
                       {Counting({1, 5, 5, 1}), {{1, 3, 3, 1}, {1, 1, 1, 1, 1, 1, 1, 1, 1}}}),
              ElementsAre(1 + 3 + 5 + 11 + 13 + 15 + 21 + 23 + 25));
  // SAME: the top left pixel sees itself and the pixels two to the right and below.
  EXPECT_THAT(Evaluate(DepthwiseConv2D{Window(5, 2, PaddingMode::kSame)},
                       {Counting({1, 5, 5, 1}), {{1, 3, 3, 1}, {1, 1, 1, 1, 1, 1, 1, 1, 1}}}),
              ElementsAre(1 + 3 + 5 + 11 + 13 + 15 + 21 + 23 + 25));
  EXPECT_THAT(Evaluate(DepthwiseConv2D{Window(4, 2, PaddingMode::kSame)},
                       {Counting({1, 5, 5, 1}), {{1, 3, 3, 1}, {1, 1, 1, 1, 1, 1, 1, 1, 1}}}),
              ElementsAre(1 + 3 + 11 + 13, 3 + 5 + 13 + 15, 11 + 13 + 21 + 23, 13 + 15 + 23 + 25));
}

TEST(Reference, DepthwiseMultiplierGroupsOutputsByInputChannel) {
  EXPECT_THAT(Evaluate(DepthwiseConv2D{},
                       {{{1, 1, 2, 2}, {1, 2, 3, 4}}, {{1, 1, 1, 4}, {1, 10, 100, 1000}}, {{4}, {0, 0, 0, 1}}}),
              ElementsAre(1, 10, 200, 2001, 3, 30, 400, 4001));
}

TEST(Reference, AveragePoolingDoesNotCountPadding) {
  const Pool2D pool{PoolKind::kAverage, 3, 3, Window(2, 1, PaddingMode::kSame)};
  EXPECT_THAT(Evaluate(pool, {Counting({1, 4, 4, 1})}), ElementsAre(6, 7.5, 12, 13.5));
  const Pool2D centred{PoolKind::kAverage, 3, 3, Window(1, 1, PaddingMode::kSame)};
  EXPECT_THAT(Evaluate(centred, {Counting({1, 2, 2, 1})}), ElementsAre(2.5, 2.5, 2.5, 2.5));
}

TEST(Reference, MaxPoolingIgnoresPadding) {
  const Pool2D pool{PoolKind::kMax, 2, 2, Window(2, 1, PaddingMode::kSame)};
  EXPECT_THAT(Evaluate(pool, {{{1, 3, 3, 1}, {-9, -8, -7, -6, -5, -4, -3, -2, -1}}}), ElementsAre(-5, -4, -2, -1));
}

TEST(Reference, BilinearResizeInItsThreeVariants) {
  const NodeInput row = {{1, 1, 2, 1}, {0, 10}};
  Resize resize{.height = 1, .width = 4};
  EXPECT_THAT(Evaluate(resize, {row}), ElementsAre(0, 5, 10, 10));
  resize.half_pixel_centers = true;
  EXPECT_THAT(Evaluate(resize, {row}), ElementsAre(0, 2.5, 7.5, 10));
  resize.half_pixel_centers = false;
  resize.align_corners = true;
  EXPECT_THAT(Evaluate(resize, {row}), Pointwise(DoubleNear(1e-6), {0.0, 10.0 / 3, 20.0 / 3, 10.0}));
}

TEST(Reference, BilinearResizeInBothDirectionsAndOfChannels) {
  const NodeInput image = {{1, 2, 2, 2}, {0, 100, 1, 101, 2, 102, 3, 103}};
  const Resize resize{.height = 3, .width = 3, .align_corners = true};
  EXPECT_THAT(Evaluate(resize, {image}), ElementsAre(0, 100, 0.5, 100.5, 1, 101,  //
                                                     1, 101, 1.5, 101.5, 2, 102,  //
                                                     2, 102, 2.5, 102.5, 3, 103));
}

TEST(Reference, BilinearDownsizingReadsBetweenPixels) {
  Resize resize{.height = 1, .width = 2};
  EXPECT_THAT(Evaluate(resize, {Counting({1, 1, 5, 1})}), ElementsAre(1, 3.5));
  resize.half_pixel_centers = true;
  EXPECT_THAT(Evaluate(resize, {Counting({1, 1, 5, 1})}), ElementsAre(1.75, 4.25));
  resize = {.height = 1, .width = 1, .align_corners = true};  // one pixel: the scale is in/out, not a division by zero
  EXPECT_THAT(Evaluate(resize, {Counting({1, 1, 5, 1})}), ElementsAre(1));
}

TEST(Reference, NearestResizeInItsVariants) {
  Resize resize{.kind = ResizeKind::kNearest, .height = 1, .width = 5};
  EXPECT_THAT(Evaluate(resize, {Counting({1, 1, 3, 1})}), ElementsAre(1, 1, 2, 2, 3));
  resize.align_corners = true;  // coordinates 0, 0.5, 1, 1.5, 2; halves round away from zero
  EXPECT_THAT(Evaluate(resize, {Counting({1, 1, 3, 1})}), ElementsAre(1, 2, 2, 3, 3));
  resize.align_corners = false;
  resize.half_pixel_centers = true;  // floor of 0.3, 0.9, 1.5, 2.1, 2.7
  EXPECT_THAT(Evaluate(resize, {Counting({1, 1, 3, 1})}), ElementsAre(1, 1, 2, 3, 3));
}

TEST(Reference, ConcatJoinsAnyAxis) {
  const NodeInput a = {{1, 2, 2}, {1, 2, 3, 4}}, b = {{1, 2, 1}, {5, 6}};
  EXPECT_THAT(Evaluate(Concat{-1}, {a, b}), ElementsAre(1, 2, 5, 3, 4, 6));
  EXPECT_THAT(Evaluate(Concat{1}, {a, a}), ElementsAre(1, 2, 3, 4, 1, 2, 3, 4));
  EXPECT_THAT(Evaluate(Concat{2, Activation::kReluN1To1}, {b, b}), ElementsAre(1, 1, 1, 1));
}

TEST(Reference, SoftmaxOverTheLastDimension) {
  const double e = std::exp(1.0);
  EXPECT_THAT(Evaluate(Softmax{}, {{{2, 2}, {0, 1, 1000, 1000}}}),
              Pointwise(DoubleNear(1e-7), {1 / (1 + e), e / (1 + e), 0.5, 0.5}));
  EXPECT_THAT(Evaluate(Softmax{0.5f}, {{{2}, {0, 2}}}), Pointwise(DoubleNear(1e-7), {1 / (1 + e), e / (1 + e)}));
}

TEST(Reference, PadSurroundsWithItsValue) {
  EXPECT_THAT(Evaluate(Pad{{1, 0}, {0, 2}, 9}, {Counting({2, 2})}), ElementsAre(9, 9, 9, 9, 1, 2, 9, 9, 3, 4, 9, 9));
}

TEST(Reference, FullyConnectedMultipliesEveryRow) {
  EXPECT_THAT(Evaluate(FullyConnected{}, {Counting({2, 2}), {{3, 2}, {1, 0, 0, 1, 1, 1}}, {{3}, {0, 0, 10}}}),
              ElementsAre(1, 2, 13, 3, 4, 17));
}

TEST(Reference, MeanOverAnyAxes) {
  EXPECT_THAT(Evaluate(Reduce{ReduceKind::kMean, 0b110}, {Counting({2, 2, 2})}), ElementsAre(2.5, 6.5));
  EXPECT_THAT(Evaluate(Reduce{ReduceKind::kMean, 0b001, true}, {Counting({2, 2, 2})}), ElementsAre(3, 4, 5, 6));
  EXPECT_THAT(Evaluate(Reduce{ReduceKind::kMean, 0b111}, {Counting({2, 2, 2})}), ElementsAre(4.5));
}

TEST(Reference, ReshapeKeepsTheOrder) {
  EXPECT_THAT(Evaluate(Reshape{{3, 2}}, {Counting({2, 3})}), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(Reference, BinaryBroadcastsBothWays) {
  EXPECT_THAT(Evaluate(Binary{BinaryKind::kSub}, {{{2, 1}, {10, 20}}, {{1, 3}, {1, 2, 3}}}),
              ElementsAre(9, 8, 7, 19, 18, 17));
  EXPECT_THAT(Evaluate(Binary{BinaryKind::kMul}, {{{}, {3}}, {{2}, {1, 2}}}), ElementsAre(3, 6));
  EXPECT_THAT(Evaluate(Binary{BinaryKind::kAdd, Activation::kRelu}, {{{2, 2, 1}, {-1, 2, 3, 4}}, {{2}, {0, -3}}}),
              ElementsAre(0, 0, 2, 0, 3, 0, 4, 1));
}

double Of(UnaryKind kind, double v, double alpha = 0.0) {
  return RowOf(kind).function(v, alpha);
}
double Of(BinaryKind kind, double a, double b) {
  return RowOf(kind).function(a, b);
}

TEST(ElementwiseTable, RoundGoesHalfToEven) {
  EXPECT_THAT((std::vector<double>{Of(UnaryKind::kRound, 0.5), Of(UnaryKind::kRound, 1.5), Of(UnaryKind::kRound, 2.5),
                                   Of(UnaryKind::kRound, -1.5), Of(UnaryKind::kRound, 0.49999999999999994)}),
              ElementsAre(0, 2, 2, -2, 0));
}

TEST(ElementwiseTable, UnaryFunctionsAtHandComputedPoints) {
  EXPECT_THAT(Of(UnaryKind::kElu, -1.0), DoubleEq(std::exp(-1.0) - 1.0));
  EXPECT_THAT(Of(UnaryKind::kElu, 2.0), DoubleEq(2.0));
  EXPECT_THAT(Of(UnaryKind::kGelu, 1.0), DoubleNear(0.8413447460685429, 1e-12));
  EXPECT_THAT(Of(UnaryKind::kGeluTanh, 1.0), DoubleNear(0.8411919906082768, 1e-12));
  EXPECT_THAT(Of(UnaryKind::kHardSwish, 1.0), DoubleNear(2.0 / 3.0, 1e-12));
  EXPECT_THAT(Of(UnaryKind::kHardSwish, -3.0), DoubleEq(0.0));
  EXPECT_THAT(Of(UnaryKind::kHardSwish, 4.0), DoubleEq(4.0));
  EXPECT_THAT(Of(UnaryKind::kLeakyRelu, -2.0, 0.25), DoubleEq(-0.5));
  EXPECT_THAT(Of(UnaryKind::kLogistic, 0.0), DoubleEq(0.5));
  EXPECT_THAT(Of(UnaryKind::kLogistic, -1000.0), DoubleEq(0.0));
  EXPECT_THAT(Of(UnaryKind::kRelu6, 7.0), DoubleEq(6.0));
  EXPECT_THAT(Of(UnaryKind::kReluN1To1, -7.0), DoubleEq(-1.0));
  EXPECT_THAT(Of(UnaryKind::kRelu0To1, 0.25), DoubleEq(0.25));
  EXPECT_THAT(Of(UnaryKind::kRsqrt, 4.0), DoubleEq(0.5));
  EXPECT_THAT(Of(UnaryKind::kSign, -4.0), DoubleEq(-1.0));
}

TEST(ElementwiseTable, FloorModHasTheSignOfTheDivisor) {
  EXPECT_EQ(Of(BinaryKind::kFloorMod, -7, 3), 2);
  EXPECT_EQ(Of(BinaryKind::kFloorMod, 7, -3), -2);
  EXPECT_EQ(Of(BinaryKind::kFloorMod, 6, 3), 0);
  EXPECT_EQ(Of(BinaryKind::kFloorDiv, -7, 2), -4);
  EXPECT_EQ(Of(BinaryKind::kSquaredDifference, 2, 5), 9);
}

TEST(ElementwiseTable, ClampsLetNotANumberThrough) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(Of(UnaryKind::kRelu, nan)));
  EXPECT_TRUE(std::isnan(Of(UnaryKind::kRelu6, nan)));
}

TEST(Evaluate, ResultsAreRoundedToTheValuesType) {
  EXPECT_THAT(Evaluate(Unary{UnaryKind::kRsqrt}, {{{1}, {3.0}}}),
              ElementsAre(static_cast<float>(1.0 / std::sqrt(3.0))));
}

TEST(Evaluate, AQuantizedResultLiesOnItsGrid) {
  Graph graph;
  graph.inputs = {graph.AddValue({.name = "x", .desc = {.shape = {4}}})};
  graph.outputs = {graph.AddValue(
      {.name = "y", .desc = {.dtype = DType::kUInt8, .shape = {4}, .quantization = Quantization{{0.5f}, {2}, 0}}})};
  graph.AddNode({.op = Unary{}, .inputs = graph.inputs, .outputs = graph.outputs});
  ASSERT_TRUE(InferShapes(graph).ok());
  const std::vector<ReferenceTensor> x = {{{4}, {0.3, 0.25, -5.0, 1000.0}}};
  EXPECT_THAT(EvaluateGraph(graph, x).value()[0].values, ElementsAre(0.5, 0.5, -1.0, 126.5));
}

TEST(Evaluate, WrongInputsAreErrors) {
  Graph graph;
  graph.inputs = {graph.AddValue({.name = "x", .desc = {.shape = {4}}})};
  graph.outputs = graph.inputs;
  EXPECT_EQ(EvaluateGraph(graph, {}).status().code(), StatusCode::kInvalidArgument);
  const std::vector<ReferenceTensor> wrong = {{{3}, {1, 2, 3}}}, right = {{{4}, {1, 2, 3, 4}}};
  EXPECT_EQ(EvaluateGraph(graph, wrong).status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(EvaluateGraph(graph, right).value()[0].values, ElementsAre(1, 2, 3, 4));
}

TEST(Evaluate, AnUnknownOperationIsUnsupported) {
  Graph graph;
  graph.inputs = {graph.AddValue({.name = "x", .desc = {.shape = {1}}})};
  graph.outputs = {graph.AddValue({.name = "y", .desc = {.shape = {1}}})};
  graph.AddNode({.op = UnknownOp{"FOO"}, .inputs = graph.inputs, .outputs = graph.outputs});
  const std::vector<ReferenceTensor> x = {{{1}, {1}}};
  EXPECT_EQ(EvaluateGraph(graph, x).status().code(), StatusCode::kUnsupported);
}

TEST(Evaluate, BytesSurviveTheWayThroughReferenceTensors) {
  for (DType dtype : {DType::kInt8, DType::kUInt8, DType::kInt16, DType::kInt32, DType::kInt64, DType::kInt4,
                      DType::kFloat32, DType::kFloat16}) {
    const TensorDesc desc = {.dtype = dtype, .shape = {5}};
    std::vector<std::byte> bytes(desc.size_bytes());
    const ReferenceTensor numbers = {{5}, {0, 1, 7, 3, 5}};
    ASSERT_TRUE(ReferenceToBytes(numbers, desc, bytes).ok()) << DTypeName(dtype);
    EXPECT_THAT(ReferenceFromBytes(desc, bytes).value().values, ElementsAreArray(numbers.values)) << DTypeName(dtype);
  }
}

TEST(Evaluate, StoringRoundsHalfAwayFromZeroAndClamps) {
  const TensorDesc desc = {.dtype = DType::kInt8, .shape = {6}};
  std::vector<std::byte> bytes(6);
  const ReferenceTensor numbers = {{6}, {0.5, -0.5, 200.0, -200.0, 1e300, std::nan("")}};
  ASSERT_TRUE(ReferenceToBytes(numbers, desc, bytes).ok());
  EXPECT_THAT(ReferenceFromBytes(desc, bytes).value().values, ElementsAre(1, -1, 127, -128, 127, 0));
  EXPECT_FALSE(ReferenceToBytes(numbers, desc, std::span(bytes).first(5)).ok());
}

}  // namespace
}  // namespace hearth
