// Passes that fold constants and zeros into what reads them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "core/graph/passes/pass.h"
#include "tests/testing/pass_check.h"

namespace hearth {
namespace {

using testing::ExpectEqualResults;
using testing::ExpectRewrite;
using testing::ExpectUnchanged;
using testing::Parsed;
using testing::Rewritten;
using testing::Structure;

// ---- fold_into_weights ----

constexpr std::string_view kFolded[] = {
    // A number, per channel, on either side; scales pass padding, and strides.
    R"(graph "g"
%0 = input : float32[1x5x5x2] "x"
%1 = constant : float32[3x3x3x2] "w" = fill(pattern)
%2 = constant : float32[1x1x1x2] "s" = {0.5, -3}
%3 = mul(%2, %0) : float32[1x5x5x2] "m" node "mul"
%4 = conv_2d(%3, %1, none) stride=2x2 padding=same : float32[1x3x3x3] "y" node "conv"
output %4
)",
    R"(graph "g"
%0 = input : float32[1x5x5x2] "x"
%1 = constant : float32[3x3x3x2] "w" = fill(pattern)
%2 = constant : float32[1] "c" = {-127.5}
%3 = constant : float32[3] "b" = {1, 2, 3}
%4 = sub(%0, %2) : float32[1x5x5x2] "m" node "sub"
%5 = conv_2d(%4, %1, %3) activation=relu : float32[1x3x3x3] "y" node "conv"
output %5
)",
    R"(graph "g"
%0 = input : float32[1x4x4x2] "x"
%1 = constant : float32[1x2x2x6] "w" = fill(pattern)
%2 = constant : float32[2] "c" = {2, 5}
%3 = add(%0, %2) : float32[1x4x4x2] "m" node "add"
%4 = depthwise_conv_2d(%3, %1) : float32[1x3x3x6] "y" node "conv"
output %4
)",
    R"(graph "g"
%0 = input : float32[1x4x4x2] "x"
%1 = constant : float32[1x3x3x6] "w" = fill(pattern)
%2 = constant : float32[2] "c" = {2, 5}
%3 = mul(%0, %2) : float32[1x4x4x2] "m" node "mul"
%4 = depthwise_conv_2d(%3, %1) padding=same : float32[1x4x4x6] "y" node "conv"
output %4
)",
    R"(graph "g"
%0 = input : float32[3x4] "x"
%1 = constant : float32[2x4] "w" = fill(pattern)
%2 = constant : float32[4] "c" = {1, 2, 3, 4}
%3 = add(%0, %2) : float32[3x4] "m" node "add"
%4 = fully_connected(%3, %1) : float32[3x2] "y" node "dense"
output %4
)"};

TEST(FoldIntoWeights, TakesConstantsIntoTheNodeThatReadsThem) {
  for (const std::string_view text : kFolded) {
    const Graph after = Rewritten(FoldIntoWeights, text);
    EXPECT_EQ(after.nodes().size(), 1u) << text;
    EXPECT_EQ(after.nodes()[0].inputs[0], after.inputs[0]);
  }
}

constexpr std::string_view kNotFolded[] = {
    // Padded elements don't get the offset.
    R"(graph "g"
%0 = input : float32[1x4x4x1] "x"
%1 = constant : float32[1x3x3x1] "w" = fill(pattern)
%2 = constant : float32[1] "c" = {2}
%3 = add(%0, %2) : float32[1x4x4x1] "m" node "add"
%4 = conv_2d(%3, %1) padding=same : float32[1x4x4x1] "y" node "conv"
output %4
)",
    // Read elsewhere too.
    R"(graph "g"
%0 = input : float32[1x4x4x1] "x"
%1 = constant : float32[1x1x1x1] "w" = {3}
%2 = constant : float32[1] "c" = {2}
%3 = mul(%0, %2) : float32[1x4x4x1] "m" node "mul"
%4 = conv_2d(%3, %1) : float32[1x4x4x1] "y" node "conv"
output %3
output %4
)",
    // Per pixel; with an activation; the constant is what is subtracted from.
    R"(graph "g"
%0 = input : float32[1x2x2x1] "x"
%1 = constant : float32[1x1x1x1] "w" = {3}
%2 = constant : float32[1x2x2x1] "c" = {2, 3, 4, 5}
%3 = mul(%0, %2) : float32[1x2x2x1] "m" node "mul"
%4 = conv_2d(%3, %1) : float32[1x2x2x1] "y" node "conv"
output %4
)",
    R"(graph "g"
%0 = input : float32[1x2x2x1] "x"
%1 = constant : float32[1x1x1x1] "w" = {3}
%2 = constant : float32[1] "c" = {2}
%3 = mul(%0, %2) activation=relu : float32[1x2x2x1] "m" node "mul"
%4 = conv_2d(%3, %1) : float32[1x2x2x1] "y" node "conv"
output %4
)",
    R"(graph "g"
%0 = input : float32[1x2x2x1] "x"
%1 = constant : float32[1x1x1x1] "w" = {3}
%2 = constant : float32[1] "c" = {2}
%3 = sub(%2, %0) : float32[1x2x2x1] "m" node "sub"
%4 = conv_2d(%3, %1) : float32[1x2x2x1] "y" node "conv"
output %4
)",
    // Groups: an element of the filter meets several input channels.
    R"(graph "g"
%0 = input : float32[1x2x2x4] "x"
%1 = constant : float32[4x1x1x2] "w" = fill(pattern)
%2 = constant : float32[4] "c" = {1, 2, 3, 4}
%3 = mul(%0, %2) : float32[1x2x2x4] "m" node "mul"
%4 = conv_2d(%3, %1) : float32[1x2x2x4] "y" node "conv"
output %4
)"};

TEST(FoldIntoWeights, LeavesWhatIsNotTheSame) {
  for (const std::string_view text : kNotFolded) ExpectUnchanged(FoldIntoWeights, text);
}

// A convolution of filters up to `weight`, whose two input channels are scaled.
std::string ScaledInput(std::string_view weight, std::string_view scales, std::string_view kind = "conv_2d") {
  const bool is_depthwise = kind != "conv_2d";
  return fmt::format(R"(graph "g"
%0 = input : float32[1x2x2x2] "x"
%1 = constant : float32[{}x1x1x2] "w" = fill({})
%2 = constant : float32[2] "c" = {{{}}}
%3 = mul(%0, %2) : float32[1x2x2x2] "m" node "mul"
%4 = {}(%3, %1) : float32[1x2x2x2] "y" node "conv"
output %4
)",
                     is_depthwise ? 1 : 2, weight, scales, kind);
}

TEST(FoldIntoWeights, AScaleThatWouldMakeWeightsTooSmallOrLargeFor16BitsStays) {
  ExpectUnchanged(FoldIntoWeights, ScaledInput("0.05", "3e-5, 3e-5"));  // sound
  ExpectUnchanged(FoldIntoWeights, ScaledInput("0.05", "1, 3e-5"));
  ExpectUnchanged(FoldIntoWeights, ScaledInput("0.3", "1e6, 1e6"));
}

TEST(FoldIntoWeights, ScalesOfPicturesZerosAndMoreNearOneAreTakenIn) {
  for (const std::string& text : {ScaledInput("0.05", "0.00392, 0.00392"), ScaledInput("1", "0, 1"),
                                  ScaledInput("1e-5", "0.5, 0.9"), ScaledInput("1e5", "0.5, 1e-3")}) {
    EXPECT_EQ(Rewritten(FoldIntoWeights, text).nodes().size(), 1u) << text;
  }
}

TEST(FoldIntoWeights, DepthwiseFiltersWhichHave32BitsTakeAnyScale) {
  EXPECT_EQ(Rewritten(FoldIntoWeights, ScaledInput("0.05", "3e-5, 1e6", "depthwise_conv_2d")).nodes().size(), 1u);
}

// Two layers with the same weights, whose inputs are scaled by other numbers.
std::string SharedWeights(int rows, int columns) {
  return fmt::format(R"(graph "g"
%0 = input : float32[1x{1}] "x"
%1 = input : float32[1x{1}] "z"
%2 = constant : float32[{0}x{1}] "w" = fill(pattern)
%3 = constant : float32[1] "c" = {{2}}
%4 = constant : float32[1] "d" = {{3}}
%5 = mul(%0, %3) : float32[1x{1}] "m" node "mul"
%6 = mul(%1, %4) : float32[1x{1}] "n" node "mul_2"
%7 = fully_connected(%5, %2) : float32[1x{0}] "y" node "dense"
%8 = fully_connected(%6, %2) : float32[1x{0}] "u" node "dense_2"
output %7
output %8
)",
                     rows, columns);
}

TEST(FoldIntoWeights, LargeWeightsThatLayersShareStayShared) {
  EXPECT_EQ(Rewritten(FoldIntoWeights, SharedWeights(8, 8)).nodes().size(), 2u);
  EXPECT_EQ(Rewritten(FoldIntoWeights, SharedWeights(513, 512)).nodes().size(), 4u);
}

// ---- concat_to_padding ----

TEST(ConcatToPadding, ZerosBeforeAndBehindBecomePadding) {
  ExpectRewrite(ConcatToPadding,
                R"(graph "g"
%0 = input : float32[1x2x2x3] "x"
%1 = constant : float32[1x2x2x1] "z1" = {0, 0, 0, 0}
%2 = constant : float32[1x2x2x2] "z2" = {0, 0, 0, 0, 0, 0, 0, 0}
%3 = concat(%1, %0, %2) axis=3 : float32[1x2x2x6] "y" node "concat" operator 0
output %3
)",
                R"(%0 = input : float32[1x2x2x3] "x"
%3 = pad(%0) before=0x0x0x1 after=0x0x0x2 : float32[1x2x2x6] "y" node "concat" operator 0
output %3
)");
}

TEST(ConcatToPadding, LeavesOtherConstantsTwoTensorsAndActivations) {
  ExpectUnchanged(ConcatToPadding, R"(graph "g"
%0 = input : float32[1x2] "x"
%1 = constant : float32[1x2] "c" = {0, 1}
%2 = concat(%0, %1) axis=1 : float32[1x4] "y" node "concat"
output %2
)");
  ExpectUnchanged(ConcatToPadding, R"(graph "g"
%0 = input : float32[1x2] "x"
%1 = input : float32[1x2] "x2"
%2 = constant : float32[1x2] "c" = {0, 0}
%3 = concat(%0, %1, %2) axis=1 : float32[1x6] "y" node "concat"
output %3
)");
  ExpectUnchanged(ConcatToPadding, R"(graph "g"
%0 = input : float32[1x2] "x"
%1 = constant : float32[1x2] "c" = {0, 0}
%2 = concat(%0, %1) axis=1 activation=relu : float32[1x4] "y" node "concat"
output %2
)");
}

// ---- pool_to_mean ----

TEST(PoolToMean, AWindowOfAWholeLargeImageBecomesAMean) {
  ExpectRewrite(PoolToMean,
                R"(graph "g"
%0 = input : float32[2x16x17x3] "x"
%1 = average_pool_2d(%0) kernel=16x17 : float32[2x1x1x3] "y" node "pool" operator 0
output %1
)",
                R"(%0 = input : float32[2x16x17x3] "x"
%1 = mean(%0) axes=1,2 keep_dims=true : float32[2x1x1x3] "y" node "pool" operator 0
output %1
)");
}

TEST(PoolToMean, AProcessorAddsUpALargeImageAlone) {
  const Graph before = Parsed(R"(graph "g"
%0 = input : float32[2x16x17x3] "x"
%1 = average_pool_2d(%0) kernel=16x17 : float32[2x1x1x3] "y" node "pool"
output %1
)");
  Graph graph = before.Clone();
  DeviceInfo device;
  device.type = DeviceType::kCpu;
  EXPECT_EQ(*PoolToMean(graph, device), Verdict::kUnchanged);
  EXPECT_EQ(Structure(graph), Structure(before));
}

TEST(PoolToMean, LeavesSmallImagesPartsAndLargestElements) {
  for (const char* text : {R"(graph "g"
%0 = input : float32[1x7x7x3] "x"
%1 = average_pool_2d(%0) kernel=7x7 : float32[1x1x1x3] "y" node "pool"
output %1
)",
                           R"(graph "g"
%0 = input : float32[1x20x20x3] "x"
%1 = average_pool_2d(%0) kernel=19x20 stride=9x1 : float32[1x1x1x3] "y" node "pool"
output %1
)",
                           R"(graph "g"
%0 = input : float32[1x20x20x3] "x"
%1 = max_pool_2d(%0) kernel=20x20 : float32[1x1x1x3] "y" node "pool"
output %1
)"}) {
    ExpectUnchanged(PoolToMean, text);
  }
}

}  // namespace
}  // namespace hearth
