#include <gtest/gtest.h>

#include "core/graph/passes/pass.h"
#include "tests/testing/pass_check.h"

namespace hearth {
namespace {

using testing::ExpectRewrite;
using testing::ExpectUnchanged;
using testing::Parsed;
using testing::Rewritten;

TEST(FoldPadding, AddsToTheValidPaddingOfAConvolution) {
  ExpectRewrite(FoldPadding,
                R"(graph "g"
%0 = input : float32[1x4x5x2] "x"
%1 = constant : float32[3x3x3x2] "w" = fill(pattern)
%2 = pad(%0) before=0x1x0x0 after=0x2x3x0 : float32[1x7x8x2] "p" node "pad" operator 0
%3 = conv_2d(%2, %1, none) stride=2x2 activation=relu : float32[1x3x3x3] "y" node "conv" operator 1
output %3
)",
                R"(%0 = input : float32[1x4x5x2] "x"
%3 = conv_2d(%0, %1, none) stride=2x2 padding=1,2,0,3 activation=relu : float32[1x3x3x3] "y" node "conv" operator 1
output %3
)");
}

TEST(FoldPadding, MakesSamePaddingOfADilatedDepthwiseConvolutionExplicit) {
  ExpectRewrite(FoldPadding,
                R"(graph "g"
%0 = input : float32[2x4x4x2] "x"
%1 = constant : float32[1x3x3x2] "w" = fill(pattern)
%2 = pad(%0) before=0x1x1x0 after=0x1x1x0 : float32[2x6x6x2] "p" node "pad"
%3 = depthwise_conv_2d(%2, %1) dilation=2x1 padding=same : float32[2x6x6x2] "y" node "conv"
output %3
)",
                R"(%0 = input : float32[2x4x4x2] "x"
%3 = depthwise_conv_2d(%0, %1) dilation=2x1 padding=3,3,2,2 : float32[2x6x6x2] "y" node "conv"
output %3
)");
}

TEST(FoldPadding, TwoPadsInARowAreBothFolded) {
  ExpectRewrite(
      [](Graph& graph, const DeviceInfo& device) -> Result<Verdict> {
        const Pass pass{"fold_padding", FoldPadding};
        const Status status = RunPasses(graph, device, std::span(&pass, 1), {});
        return status.ok() ? Result<Verdict>(Verdict::kChanged) : Result<Verdict>(status);
      },
      R"(graph "g"
%0 = input : float32[1x3x3x1] "x"
%1 = constant : float32[1x2x2x1] "w" = {1, 2, 3, 4}
%2 = pad(%0) before=0x1x1x0 after=0x0x0x0 : float32[1x4x4x1] "p" node "1"
%3 = pad(%2) before=0x0x0x0 after=0x1x1x0 : float32[1x5x5x1] "q" node "2"
%4 = conv_2d(%3, %1) : float32[1x4x4x1] "y" node "3"
output %4
)",
      R"(%0 = input : float32[1x3x3x1] "x"
%4 = conv_2d(%0, %1) padding=1,1,1,1 : float32[1x4x4x1] "y" node "3"
output %4
)");
}

constexpr std::string_view kPadKeptCases[] = {
    // A value other than zero.
    R"(graph "g"
%0 = input : float32[1x3x3x1] "x"
%1 = constant : float32[1x2x2x1] "w" = {1, 2, 3, 4}
%2 = pad(%0) before=0x1x1x0 after=0x0x0x0 value=-1 : float32[1x4x4x1] "p" node "1"
%3 = conv_2d(%2, %1) : float32[1x3x3x1] "y" node "2"
output %3
)",
    // On channels.
    R"(graph "g"
%0 = input : float32[1x3x3x1] "x"
%1 = constant : float32[1x1x1x2] "w" = {1, 2}
%2 = pad(%0) before=0x1x1x0 after=0x0x0x1 : float32[1x4x4x2] "p" node "1"
%3 = conv_2d(%2, %1) : float32[1x4x4x1] "y" node "2"
output %3
)",
    // On batches.
    R"(graph "g"
%0 = input : float32[1x3x3x1] "x"
%1 = constant : float32[1x1x1x1] "w" = {2}
%2 = pad(%0) before=1x1x1x0 after=0x0x0x0 : float32[2x4x4x1] "p" node "1"
%3 = conv_2d(%2, %1) : float32[2x4x4x1] "y" node "2"
output %3
)",
    // Read by another node.
    R"(graph "g"
%0 = input : float32[1x3x3x1] "x"
%1 = constant : float32[1x1x1x1] "w" = {2}
%2 = pad(%0) before=0x1x1x0 after=0x0x0x0 : float32[1x4x4x1] "p" node "1"
%3 = conv_2d(%2, %1) : float32[1x4x4x1] "y" node "2"
%4 = neg(%2) : float32[1x4x4x1] "z" node "3"
output %3
output %4
)",
    // An output of the network.
    R"(graph "g"
%0 = input : float32[1x3x3x1] "x"
%1 = constant : float32[1x1x1x1] "w" = {2}
%2 = pad(%0) before=0x1x1x0 after=0x0x0x0 : float32[1x4x4x1] "p" node "1"
%3 = conv_2d(%2, %1) : float32[1x4x4x1] "y" node "2"
output %2
output %3
)",
    // Before pooling, where padded zeros count and a pool's own padding does not.
    R"(graph "g"
%0 = input : float32[1x3x3x1] "x"
%1 = pad(%0) before=0x1x1x0 after=0x0x0x0 : float32[1x4x4x1] "p" node "1"
%2 = average_pool_2d(%1) kernel=2x2 : float32[1x3x3x1] "y" node "2"
output %2
)",
    R"(graph "g"
%0 = input : float32[1x3x3x1] "x"
%1 = pad(%0) before=0x1x1x0 after=0x0x0x0 : float32[1x4x4x1] "p" node "1"
%2 = max_pool_2d(%1) kernel=2x2 : float32[1x3x3x1] "y" node "2"
output %2
)",
};

TEST(FoldPadding, KeepsPadsThatAConvolutionCannotExpress) {
  for (std::string_view text : kPadKeptCases) {
    SCOPED_TRACE(text);
    ExpectUnchanged(FoldPadding, text);
  }
}

}  // namespace
}  // namespace hearth
