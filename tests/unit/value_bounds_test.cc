// How large values can become, by what makes them.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

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

}  // namespace
}  // namespace hearth
