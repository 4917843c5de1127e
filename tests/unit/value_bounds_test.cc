// How large values can become, by what makes them.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "core/graph/half_range.h"
#include "core/graph/value_analysis.h"
#include "tests/testing/parsed_graph.h"

namespace hearth {
namespace {

constexpr float kUnbounded = std::numeric_limits<float>::infinity();

// Of the graph's output.
float BoundOf(const std::string& nodes, const std::string& output) {
  const Graph graph = testing::Parsed("%0 = input : float32[1x2x2x4] \"x\"\n" + nodes + "output " + output + "\n");
  return LargestMagnitudes(graph)[graph.outputs[0]];
}

TEST(ValueBounds, ComeFromActivationsAndFunctions) {
  const std::string type = " : float32[1x2x2x4] \"y\"\n";
  EXPECT_EQ(BoundOf("%1 = relu6(%0)" + type, "%1"), 6);
  EXPECT_EQ(BoundOf("%1 = tanh(%0)" + type, "%1"), 1);
  EXPECT_EQ(BoundOf("%1 = logistic(%0)" + type, "%1"), 1);
  EXPECT_EQ(BoundOf("%1 = softmax(%0)" + type, "%1"), 1);
  EXPECT_EQ(BoundOf("%1 = add(%0, %0) activation=relu6" + type, "%1"), 6);
  EXPECT_EQ(BoundOf("%1 = relu(%0)" + type, "%1"), kUnbounded);
  EXPECT_EQ(BoundOf("%1 = exp(%0)" + type, "%1"), kUnbounded);
}

TEST(ValueBounds, GoThroughWhatMovesAndCombinesElements) {
  const std::string bounded = "%1 = relu6(%0) : float32[1x2x2x4] \"a\"\n";
  EXPECT_EQ(BoundOf(bounded + "%2 = reshape(%1) shape=1x16 : float32[1x16] \"y\"\n", "%2"), 6);
  EXPECT_EQ(BoundOf(bounded + "%2 = add(%1, %1) : float32[1x2x2x4] \"y\"\n", "%2"), 12);
  EXPECT_EQ(BoundOf(bounded + "%2 = mul(%1, %1) : float32[1x2x2x4] \"y\"\n", "%2"), 36);
  EXPECT_EQ(BoundOf(bounded + "%2 = concat(%1, %0) axis=3 : float32[1x2x2x8] \"y\"\n", "%2"), kUnbounded);
  EXPECT_EQ(BoundOf(bounded + "%2 = pad(%1) before=0x1x1x0 after=0x0x0x0 value=-9 : float32[1x3x3x4] \"y\"\n", "%2"),
            9);
}

// relu6's 6 on a grid of multiples of 11.5 is 11.5.
TEST(ValueBounds, OfResultsOnAGridAreRoundedToIt) {
  const std::string grid = " : int8[1x2x2x4]{11.5/0}";
  EXPECT_EQ(BoundOf("%1 = quantize(%0)" + grid + " \"a\"\n%2 = relu6(%1)" + grid + " \"y\"\n", "%2"), 11.75f);
}

TEST(ValueBounds, OfConstantsAreTheirLargestElement) {
  const Graph graph = testing::Parsed(
      "%0 = input : float32[3] \"x\"\n%1 = constant : float32[3] \"c\" = {0.5, -7, 2}\n"
      "%2 = add(%0, %1) : float32[3] \"y\"\noutput %2\n");
  EXPECT_EQ(LargestMagnitudeOf(graph, graph.nodes()[0].inputs[1]), 7);
}

TEST(ValueBounds, OfConstantsWithANanAreNone) {
  Graph graph;
  const float numbers[] = {1, std::numeric_limits<float>::quiet_NaN(), 2};
  EXPECT_TRUE(std::isnan(LargestMagnitudeOf(graph, graph.AddFloatConstant("c", {3}, numbers))));
}

// Of the graph's output; the input is 1x4x6x16.
bool MayPassHalf(const std::string& nodes, const std::string& output) {
  const Graph graph = testing::Parsed("%0 = input : float32[1x4x6x16] \"x\"\n" + nodes + "output " + output + "\n");
  return ValuesBeyondHalf(graph)[graph.outputs[0]];
}

TEST(ValuesBeyondHalf, AreSquaresProductsSumsAndPowersOfWhatNothingBounds) {
  const std::string type = " : float32[1x4x6x16] \"y\"\n", small = "%1 = tanh(%0) : float32[1x4x6x16] \"a\"\n";
  EXPECT_TRUE(MayPassHalf("%1 = square(%0)" + type, "%1"));
  EXPECT_TRUE(MayPassHalf("%1 = mul(%0, %0)" + type, "%1"));
  EXPECT_TRUE(MayPassHalf("%1 = exp(%0)" + type, "%1"));
  EXPECT_TRUE(MayPassHalf("%1 = squared_difference(%0, %0)" + type, "%1"));
  EXPECT_TRUE(MayPassHalf("%1 = sum(%0) axes=1,2,3 : float32[1] \"y\"\n", "%1"));
  EXPECT_FALSE(MayPassHalf(small + "%2 = square(%1)" + type, "%2"));
  EXPECT_FALSE(MayPassHalf(small + "%2 = exp(%1)" + type, "%2"));
  EXPECT_FALSE(MayPassHalf("%1 = relu(%0)" + type, "%1"));
}

TEST(ValuesBeyondHalf, AreNotLayersWithWeightsNorWhatResidualNetworksAddUp) {
  const std::string type = " : float32[1x4x6x16] \"y\"\n";
  std::string sums = "%1 = add(%0, %0)" + type;
  for (int k = 2; k < 200; ++k) sums += "%" + std::to_string(k) + " = add(%" + std::to_string(k - 1) + ", %0)" + type;
  EXPECT_FALSE(MayPassHalf(sums, "%199"));
  EXPECT_FALSE(MayPassHalf("%1 = mean(%0) axes=1,2 : float32[1x16] \"y\"\n", "%1"));
  EXPECT_FALSE(MayPassHalf("%1 = average_pool_2d(%0) kernel=2x2 : float32[1x3x5x16] \"y\"\n", "%1"));
}

TEST(ValuesBeyondHalf, AreProductsWithComputedWeights) {
  const std::string rows = "%1 = reshape(%0) shape=24x16 : float32[24x16] \"r\"\n";
  const std::string product = " : float32[24x24] \"y\"\n";
  EXPECT_TRUE(MayPassHalf(rows + "%2 = fully_connected(%1, %1)" + product, "%2"));
  EXPECT_FALSE(
      MayPassHalf(rows + "%2 = tanh(%1) : float32[24x16] \"t\"\n%3 = fully_connected(%2, %2)" + product, "%3"));
}

TEST(ValuesBeyondHalf, AreScoresOfTwoValuesButNotWhatASoftmaxWeighs) {
  const std::string scores = "%1 = batch_matmul(%0, %0) adjoint_b=true : float32[1x4x6x6] \"s\"\n";
  EXPECT_TRUE(MayPassHalf(scores, "%1"));
  const std::string shares = scores + "%2 = softmax(%1) : float32[1x4x6x6] \"p\"\n";
  EXPECT_FALSE(MayPassHalf(shares, "%2"));
  EXPECT_FALSE(MayPassHalf(shares + "%3 = batch_matmul(%2, %0) : float32[1x4x6x16] \"y\"\n", "%3"));
}

}  // namespace
}  // namespace hearth
