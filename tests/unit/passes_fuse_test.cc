#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "core/graph/evaluate.h"
#include "core/graph/passes/pass.h"
#include "tests/testing/pass_check.h"

namespace hearth {
namespace {

using testing::ExpectRewrite;
using testing::ExpectUnchanged;
using testing::Parsed;
using testing::Rewritten;

// ---- fuse_bias ----

TEST(FuseBias, AVectorBecomesTheBiasOfAConvolutionThatHasNone) {
  const std::string_view before = R"(graph "g"
%0 = input : float32[1x3x3x2] "x"
%1 = constant : float32[3x2x2x2] "w" = fill(pattern)
%2 = constant : float32[3] "c" = {1, -2, 0.5}
%3 = conv_2d(%0, %1) : float32[1x2x2x3] "t" node "conv" operator 0
%4 = add(%3, %2) activation=relu6 : float32[1x2x2x3] "y" node "add" operator 1
output %4
)";
  ExpectRewrite(FuseBias, before, R"(%0 = input : float32[1x3x3x2] "x"
%4 = conv_2d(%0, %1, %5) activation=relu6 : float32[1x2x2x3] "y" node "conv" operator 0
output %4
)");
  const Graph after = Rewritten(FuseBias, before);
  const Result<std::vector<float>> bias = ConstantAsFloats(after, 5);
  ASSERT_TRUE(bias.ok());
  EXPECT_EQ(*bias, (std::vector<float>{1, -2, 0.5}));
}

TEST(FuseBias, AScalarIsAddedToEveryChannelOfTheOldBias) {
  ExpectRewrite(FuseBias,
                R"(graph "g"
%0 = input : float32[1x3x3x2] "x"
%1 = constant : float32[1x2x2x4] "w" = fill(pattern)
%2 = constant : float32[4] "b" = {1, 2, 3, 4}
%3 = constant : float32[] "c" = {0.25}
%4 = depthwise_conv_2d(%0, %1, %2) : float32[1x2x2x4] "t" node "conv"
%5 = add(%3, %4) : float32[1x2x2x4] "y" node "add"
output %5
)",
                R"(%0 = input : float32[1x3x3x2] "x"
%5 = depthwise_conv_2d(%0, %1, %6) : float32[1x2x2x4] "y" node "conv"
output %5
)");
}

TEST(FuseBias, ASubtractedVectorIsNegated) {
  ExpectRewrite(FuseBias,
                R"(graph "g"
%0 = input : float32[2x3] "x"
%1 = constant : float32[4x3] "w" = fill(pattern)
%2 = constant : float32[1x4] "c" = {1, 2, 3, 4}
%3 = fully_connected(%0, %1, none) : float32[2x4] "t" node "fc"
%4 = sub(%3, %2) : float32[2x4] "y" node "sub"
output %4
)",
                R"(%0 = input : float32[2x3] "x"
%4 = fully_connected(%0, %1, %5) : float32[2x4] "y" node "fc"
output %4
)");
}

TEST(FuseBias, ScaleAndShiftAfterEveryKindOfWeightedNodeAreFolded) {
  ExpectRewrite(FuseBias,
                R"(graph "g"
%0 = input : float32[1x3x3x2] "x"
%1 = constant : float32[4x2x2x2] "w0" = fill(pattern)
%2 = constant : float32[1x2x2x4] "w1" = fill(pattern)
%3 = constant : float32[3x4] "w2" = fill(pattern)
%4 = constant : float32[4] "s" = {1, -2, 0, 4}
%5 = constant : float32[1x1x1x4] "c" = {1, 2, 3, 4}
%6 = constant : float32[3] "r" = {2, 3, 4}
%7 = conv_2d(%0, %1, %4) : float32[1x2x2x4] "a" node "conv"
%8 = mul(%7, %4) : float32[1x2x2x4] "b" node "mul"
%9 = add(%8, %5) : float32[1x2x2x4] "d" node "add"
%10 = depthwise_conv_2d(%9, %2, none) : float32[1x1x1x4] "e" node "depthwise"
%11 = mul(%4, %10) activation=relu : float32[1x1x1x4] "f" node "mul 2"
%12 = reshape(%11) shape=1x4 : float32[1x4] "h" node "flat"
%13 = fully_connected(%12, %3, %6) : float32[1x3] "i" node "fc"
%14 = mul(%13, %6) : float32[1x3] "y" node "mul 3"
output %14
)",
                R"(%0 = input : float32[1x3x3x2] "x"
%9 = conv_2d(%0, %15, %17) : float32[1x2x2x4] "d" node "conv"
%11 = depthwise_conv_2d(%9, %18, none) activation=relu : float32[1x1x1x4] "f" node "depthwise"
%12 = reshape(%11) shape=1x4 : float32[1x4] "h" node "flat"
%14 = fully_connected(%12, %19, %20) : float32[1x3] "y" node "fc"
output %14
)");
}

// A graph of an image x, a filter w, a constant c and what follows.
std::string BiasGraph(std::string_view w, std::string_view c, std::string_view nodes, int x_channels = 1) {
  return fmt::format("graph \"g\"\n%0 = input : float32[1x2x2x{}] \"x\"\n%1 = {}\n%2 = constant : {}\n{}", x_channels,
                     w, c, nodes);
}

// Its number is not repeated for each of 2^31 channels: that would take 8 GiB.
TEST(FuseBias, KeepsWhatIsNoBiasOrScale) {
  constexpr std::string_view kW = R"(constant : float32[2x1x1x1] "w" = {1, 2})", kC = R"(float32[2] "c" = {1, -2})";
  const std::string kept[] = {
      // The convolution has an activation already.
      BiasGraph(kW, kC, R"(%3 = conv_2d(%0, %1) activation=relu : float32[1x2x2x2] "t" node "1"
%4 = add(%3, %2) : float32[1x2x2x2] "y" node "2"
output %4
)"),
      // Its result is read twice.
      BiasGraph(kW, kC, R"(%3 = conv_2d(%0, %1) : float32[1x2x2x2] "t" node "1"
%4 = add(%3, %2) : float32[1x2x2x2] "y" node "2"
%5 = neg(%3) : float32[1x2x2x2] "z" node "3"
output %4
output %5
)"),
      // Its result is an output of the network.
      BiasGraph(kW, kC, R"(%3 = conv_2d(%0, %1) : float32[1x2x2x2] "t" node "1"
%4 = add(%3, %2) : float32[1x2x2x2] "y" node "2"
output %3
output %4
)"),
      // The constant varies along the width, not the channels.
      BiasGraph(kW, R"(float32[2x1] "c" = {1, -2})", R"(%3 = conv_2d(%0, %1) : float32[1x2x2x2] "t" node "1"
%4 = add(%3, %2) : float32[1x2x2x2] "y" node "2"
output %4
)"),
      // The sum has more elements than the convolution.
      BiasGraph(R"(constant : float32[1x1x1x1] "w" = {2})", R"(float32[3] "c" = {1, -2, 3})",
                R"(%3 = conv_2d(%0, %1) : float32[1x2x2x1] "t" node "1"
%4 = add(%3, %2) : float32[1x2x2x3] "y" node "2"
output %4
)"),
      // The sum has another rank.
      BiasGraph(kW, R"(float32[1x1x1x1x2] "c" = {1, -2})", R"(%3 = conv_2d(%0, %1) : float32[1x2x2x2] "t" node "1"
%4 = add(%3, %2) : float32[1x1x2x2x2] "y" node "2"
output %4
)"),
      // Subtracted from a constant; divided; added to another tensor.
      BiasGraph(R"(constant : float32[2x1x1x2] "w" = {1, 2, 3, 4})", kC,
                R"(%3 = conv_2d(%0, %1) : float32[1x2x2x2] "s" node "1"
%4 = sub(%2, %3) : float32[1x2x2x2] "t" node "2"
%5 = conv_2d(%4, %1) : float32[1x2x2x2] "u" node "3"
%6 = div(%5, %2) : float32[1x2x2x2] "v" node "4"
%7 = conv_2d(%6, %1) : float32[1x2x2x2] "z" node "5"
%8 = add(%7, %0) : float32[1x2x2x2] "y" node "6"
output %8
)",
                2),
      // A bias or filter that the network computes can't be changed.
      BiasGraph(kW, kC, R"(%3 = input : float32[2] "b"
%4 = conv_2d(%0, %1, %3) : float32[1x2x2x2] "t" node "1"
%5 = add(%4, %2) : float32[1x2x2x2] "y" node "2"
output %5
)"),
      BiasGraph(R"(input : float32[2x1x1x1] "w")", kC, R"(%3 = conv_2d(%0, %1) : float32[1x2x2x2] "t" node "1"
%4 = mul(%3, %2) : float32[1x2x2x2] "y" node "2"
output %4
)")};
  for (const std::string& text : kept) {
    SCOPED_TRACE(text);
    ExpectUnchanged(FuseBias, text);
  }
}

TEST(FuseBias, AnInfiniteScaleIsNotMovedIntoTheWeights) {
  Graph graph = Parsed(R"(graph "g"
%0 = input : float32[1x2x2x1] "x"
%1 = constant : float32[2x1x1x1] "w" = {1e30, 2}
%2 = constant : float32[2] "c" = {1e30, -2}
%3 = conv_2d(%0, %1) : float32[1x2x2x2] "t" node "1"
%4 = mul(%3, %2) : float32[1x2x2x2] "y" node "2"
output %4
)");
  const Result<Verdict> verdict = FuseBias(graph, DeviceInfo());
  ASSERT_TRUE(verdict.ok());
  EXPECT_EQ(*verdict, Verdict::kUnchanged);
  EXPECT_EQ(graph.nodes().size(), 2u);
}

TEST(FuseBias, AScaleThatWouldMakeAChannelTooSmallOrLargeFor16BitsStays) {
  for (const char* scales : {"1, 3e-5", "1e6, 1"}) {
    ExpectUnchanged(FuseBias, fmt::format(R"(graph "g"
%0 = input : float32[1x2x2x2] "x"
%1 = constant : float32[2x1x1x2] "w" = fill(0.05)
%2 = constant : float32[2] "c" = {{{}}}
%3 = conv_2d(%0, %1) : float32[1x2x2x2] "t" node "1"
%4 = mul(%3, %2) : float32[1x2x2x2] "y" node "2"
output %4
)",
                                          scales));
  }
}

// ---- fuse_activation ----

TEST(FuseActivation, EveryProducerTakesAnActivation) {
  ExpectRewrite(FuseActivation,
                R"(graph "g"
%0 = input : float32[1x4x4x2] "x"
%1 = constant : float32[2x1x1x2] "w0" = {1, -2, 3, 4}
%2 = constant : float32[1x1x1x2] "w1" = {1, -2}
%3 = constant : float32[3x4] "w2" = fill(pattern)
%4 = conv_2d(%0, %1) : float32[1x4x4x2] "a" node "conv"
%5 = relu(%4) : float32[1x4x4x2] "b" node "relu"
%6 = depthwise_conv_2d(%5, %2) : float32[1x4x4x2] "c" node "depthwise"
%7 = relu6(%6) : float32[1x4x4x2] "d" node "relu6"
%8 = max_pool_2d(%7) kernel=4x4 : float32[1x1x1x2] "e" node "pool"
%9 = relu_n1_to_1(%8) : float32[1x1x1x2] "f" node "relu_n1_to_1"
%10 = add(%9, %9) : float32[1x1x1x2] "h" node "add"
%11 = tanh(%10) : float32[1x1x1x2] "i" node "tanh"
%12 = concat(%11, %11) : float32[1x1x1x4] "j" node "concat"
%13 = logistic(%12) : float32[1x1x1x4] "k" node "logistic"
%14 = fully_connected(%13, %3) : float32[1x3] "l" node "fc"
%15 = relu(%14) : float32[1x3] "y" node "relu 2"
output %15
)",
                R"(%0 = input : float32[1x4x4x2] "x"
%5 = conv_2d(%0, %1) activation=relu : float32[1x4x4x2] "b" node "conv"
%7 = depthwise_conv_2d(%5, %2) activation=relu6 : float32[1x4x4x2] "d" node "depthwise"
%9 = max_pool_2d(%7) kernel=4x4 activation=relu_n1_to_1 : float32[1x1x1x2] "f" node "pool"
%11 = add(%9, %9) activation=tanh : float32[1x1x1x2] "i" node "add"
%13 = concat(%11, %11) activation=sigmoid : float32[1x1x1x4] "k" node "concat"
%15 = fully_connected(%13, %3) activation=relu : float32[1x3] "y" node "fc"
output %15
)");
}

TEST(FuseActivation, OnlyTheFirstOfTwoActivationsIsTaken) {
  ExpectRewrite(FuseActivation,
                R"(graph "g"
%0 = input : float32[4] "x"
%1 = add(%0, %0) : float32[4] "a" node "add"
%2 = relu(%1) : float32[4] "b" node "relu"
%3 = tanh(%2) : float32[4] "y" node "tanh"
output %3
)",
                R"(%0 = input : float32[4] "x"
%2 = add(%0, %0) activation=relu : float32[4] "b" node "add"
%3 = tanh(%2) : float32[4] "y" node "tanh"
output %3
)");
}

constexpr std::string_view kActivationKeptCases[] = {
    // Read twice.
    R"(graph "g"
%0 = input : float32[4] "x"
%1 = add(%0, %0) : float32[4] "a" node "1"
%2 = relu(%1) : float32[4] "b" node "2"
%3 = neg(%1) : float32[4] "c" node "3"
output %2
output %3
)",
    // An output of the network.
    R"(graph "g"
%0 = input : float32[4] "x"
%1 = add(%0, %0) : float32[4] "a" node "1"
%2 = relu(%1) : float32[4] "b" node "2"
output %1
output %2
)",
    // Producers without the attribute, functions that are not an activation attribute, inputs of the network.
    R"(graph "g"
%0 = input : float32[4] "x"
%1 = relu(%0) : float32[4] "a" node "1"
%2 = softmax(%1) : float32[4] "b" node "2"
%3 = relu(%2) : float32[4] "c" node "3"
%4 = add(%3, %3) : float32[4] "d" node "4"
%5 = hard_swish(%4) : float32[4] "e" node "5"
%6 = mul(%5, %5) : float32[4] "f" node "6"
%7 = elu(%6) : float32[4] "y" node "7"
output %7
)",
};

TEST(FuseActivation, KeepsWhatNoProducerCanTake) {
  for (std::string_view text : kActivationKeptCases) {
    SCOPED_TRACE(text);
    ExpectUnchanged(FuseActivation, text);
  }
}

TEST(FuseActivation, QuantizedValuesKeepTheirRoundingInBetween) {
  ExpectUnchanged(FuseActivation, R"(graph "g"
%0 = input : int8[4]{0.5/0} "x"
%1 = add(%0, %0) : int8[4]{0.5/0} "a" node "1"
%2 = relu(%1) : int8[4]{0.5/0} "b" node "2"
output %2
)");
}

}  // namespace
}  // namespace hearth
