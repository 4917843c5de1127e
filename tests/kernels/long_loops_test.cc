// Nodes whose loops are too long for software drivers, which end them after 65,536 turns and continue with wrong
// numbers: they run elsewhere, and the answer is the reference's on each device.
#include <gtest/gtest.h>

#include "tests/testing/on_device.h"
#include "tests/testing/one_input.h"

namespace hearth {
namespace {

using testing::OneInputGraph;

class LongLoops : public testing::OnDevice {
 protected:
  void ExpectTheReference(OneInputGraph& made) {
    const Result<testing::TwoAnswers> answers = AnswersOf(opened_, made, Precision::kFp32);
    ASSERT_TRUE(answers.ok()) << answers.status().message();
    EXPECT_LT(RelativeErrorOf(*answers), 1e-4);
  }
};

TEST_P(LongLoops, OfDimensionsThatAreReducedApart) {
  OneInputGraph made({40, 2, 40, 2, 40, 1});
  made.Node(Reduce{ReduceKind::kSum, 0b110101, false}, {made.input()});
  ExpectTheReference(made);
}

TEST_P(LongLoops, OfAWindowOfOneColumn) {
  OneInputGraph made({1, 30000, 1, 1});
  made.Node(Pool2D{.kernel_h = 29999}, {made.input()});
  ExpectTheReference(made);
}

TEST_P(LongLoops, OfGroupsThatShareTexels) {
  OneInputGraph made({1, 80, 80, 6});
  made.Node(Conv2D{}, {made.input(), made.Constant({2, 80, 80, 3})});
  ExpectTheReference(made);
}

TEST_P(LongLoops, OfPixelsOfOneChannelInAFullyConnectedLayer) {
  OneInputGraph made({1, 200, 200, 1});
  made.Node(FullyConnected{}, {made.input(), made.Constant({3, 40000})});
  ExpectTheReference(made);
}

TEST_P(LongLoops, OfAGroupOfVeryManyChannels) {
  OneInputGraph made({1, 1, 2, 32000});
  made.Node(MeanVarianceNormalization{.axes_mask = 0b0110, .groups = 1, .epsilon = 1e-3f}, {made.input()});
  ExpectTheReference(made);
}

INSTANTIATE_TEST_SUITE_P(Devices, LongLoops, ::testing::Values("opencl", "vulkan", "gles"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace hearth
