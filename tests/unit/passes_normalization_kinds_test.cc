// Normalization in groups of channels, and without a mean; the forms of those with one are in
// passes_normalization_test.cc.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/graph/passes/pass.h"
#include "tests/testing/pass_check.h"

namespace hearth {
namespace {

using testing::ExpectRewrite;
using testing::ExpectUnchanged;
using testing::Rewritten;

// Channels split into `groups` of `size`, and what Keras makes of them.
std::string Grouped(int groups, int size) {
  std::string numbers;
  for (int i = 0; i < 16; ++i) numbers += fmt::format("{}{}", i == 0 ? "" : ", ", 0.25 * i - 1);
  return fmt::format(R"(graph "g"
%0 = input : float32[2x3x4x16] "x"
%1 = constant : float32[] "e" = {{0.001}}
%2 = constant : float32[1x1x1x{0}x{1}] "gamma" = {{{2}}}
%3 = constant : float32[1x1x1x{0}x{1}] "beta" = {{{2}}}
%4 = reshape(%0) shape=2x3x4x{0}x{1} : float32[2x3x4x{0}x{1}] "split" node "split"
%5 = mean(%4) axes=1,2,4 keep_dims=true : float32[2x1x1x{0}x1] "m" node "mean"
%6 = neg(%5) : float32[2x1x1x{0}x1] "-m" node "neg"
%7 = sub(%4, %5) : float32[2x3x4x{0}x{1}] "d" node "difference"
%8 = square(%7) : float32[2x3x4x{0}x{1}] "q" node "square"
%9 = mean(%8) axes=1,2,4 keep_dims=true : float32[2x1x1x{0}x1] "v" node "variance"
%10 = add(%9, %1) : float32[2x1x1x{0}x1] "ve" node "add"
%11 = rsqrt(%10) : float32[2x1x1x{0}x1] "r" node "rsqrt"
%12 = mul(%11, %2) : float32[2x1x1x{0}x{1}] "k" node "mul"
%13 = mul(%6, %12) : float32[2x1x1x{0}x{1}] "-mk" node "mul 1"
%14 = add(%13, %3) : float32[2x1x1x{0}x{1}] "s" node "add 1"
%15 = mul(%4, %12) : float32[2x3x4x{0}x{1}] "xk" node "mul 2"
%16 = add(%15, %14) : float32[2x3x4x{0}x{1}] "z" node "last"
%17 = reshape(%16) shape=2x3x4x16 : float32[2x3x4x16] "y" node "join"
output %17
)",
                     groups, size, numbers);
}

TEST(FuseNormalization, GroupsOfChannelsBetweenTwoReshapes) {
  ExpectRewrite(FuseNormalization, Grouped(4, 4), R"(%0 = input : float32[2x3x4x16] "x"
%4 = reshape(%0) shape=2x3x4x4x4 : float32[2x3x4x4x4] "split" node "split"
%11 = mean_variance_normalization(%0, %18, %19) axes=1,2 groups=4 epsilon=0.001 : float32[2x3x4x16] "r" node "last"
%16 = reshape(%11) shape=2x3x4x4x4 : float32[2x3x4x4x4] "z" node "last"
%17 = reshape(%16) shape=2x3x4x16 : float32[2x3x4x16] "y" node "join"
output %17
)");
}

TEST(FuseNormalization, GroupsOfOneChannelAreAnInstanceNormalization) {
  const Graph graph = Rewritten(FuseNormalization, Grouped(16, 1));
  ASSERT_EQ(graph.nodes().size(), 4u);
  const MeanVarianceNormalization expected = {.axes_mask = 6, .epsilon = 0.001f};
  EXPECT_EQ(std::get<MeanVarianceNormalization>(graph.nodes()[1].op), expected);
}

TEST(FuseNormalization, LeavesGroupsThatDoNotFillTexels) {
  ExpectUnchanged(FuseNormalization, Grouped(8, 2));
}

TEST(FuseNormalization, TheRootMeanSquare) {
  for (std::string_view square : {"square(%0)", "mul(%0, %0)"}) {
    ExpectRewrite(FuseNormalization,
                  fmt::format(R"(graph "g"
%0 = input : float32[3x5] "x"
%1 = constant : float32[] "e" = {{0.001}}
%2 = constant : float32[5] "gamma" = {{1, -2, 3, 0.5, 1}}
%3 = {} : float32[3x5] "q" node "square"
%4 = mean(%3) axes=1 keep_dims=true : float32[3x1] "v" node "mean"
%5 = add(%4, %1) : float32[3x1] "ve" node "add"
%6 = rsqrt(%5) : float32[3x1] "r" node "root"
%7 = mul(%0, %6) : float32[3x5] "n" node "normal"
%8 = mul(%2, %7) : float32[3x5] "g" node "scale"
output %8
)",
                              square),
                  R"(%0 = input : float32[3x5] "x"
%8 = mean_variance_normalization(%0, %2) axes=1 root_mean_square=true epsilon=0.001 : float32[3x5] "g" node "scale"
output %8
)");
  }
}

// The difference from another mean than that over which it is squared is nothing but an x.
TEST(FuseNormalization, TheRootMeanSquareOfADifference) {
  ExpectRewrite(FuseNormalization, R"(graph "g"
%0 = input : float32[3x5] "x"
%1 = constant : float32[] "e" = {0.001}
%2 = mean(%0) axes=0 keep_dims=true : float32[1x5] "m" node "mean"
%3 = sub(%0, %2) : float32[3x5] "d" node "difference"
%4 = square(%3) : float32[3x5] "q" node "square"
%5 = mean(%4) axes=1 keep_dims=true : float32[3x1] "v" node "variance"
%6 = add(%5, %1) : float32[3x1] "ve" node "add"
%7 = sqrt(%6) : float32[3x1] "r" node "root"
%8 = div(%3, %7) : float32[3x5] "n" node "normal"
output %8
)",
                R"(%0 = input : float32[3x5] "x"
%2 = mean(%0) axes=0 keep_dims=true : float32[1x5] "m" node "mean"
%3 = sub(%0, %2) : float32[3x5] "d" node "difference"
%8 = mean_variance_normalization(%3) axes=1 root_mean_square=true epsilon=0.001 : float32[3x5] "n" node "normal"
output %8
)");
}

TEST(FuseNormalization, LeavesTheRootMeanSquareOfImages) {
  ExpectUnchanged(FuseNormalization, R"(graph "g"
%0 = input : float32[2x3x4x5] "x"
%1 = constant : float32[] "e" = {0.001}
%2 = square(%0) : float32[2x3x4x5] "q" node "square"
%3 = mean(%2) axes=1,2 keep_dims=true : float32[2x1x1x5] "v" node "variance"
%4 = add(%3, %1) : float32[2x1x1x5] "ve" node "add"
%5 = rsqrt(%4) : float32[2x1x1x5] "r" node "root"
%6 = mul(%0, %5) : float32[2x3x4x5] "n" node "normal"
output %6
)");
}

}  // namespace
}  // namespace hearth
