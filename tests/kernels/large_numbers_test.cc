// Functions of numbers far beyond what a driver's own functions are made for: as in the float64 reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/graph/op_text.h"
#include "frontends/engine/device_choice.h"
#include "tests/testing/on_device.h"
#include "tests/testing/one_input.h"

namespace hearth {
namespace {

using testing::OneInputGraph;

class LargeNumbers : public testing::OnDevice {
 protected:
  // Within `tolerance` times the reference's number where that is beyond 1.
  void ExpectAsReference(const Op& op, const std::vector<float>& a, const std::vector<float>& b, double tolerance) {
    OneInputGraph made({static_cast<int32_t>(a.size())});
    made.x = a;
    std::vector<ValueId> inputs = {made.input()};
    if (!b.empty()) inputs.push_back(made.ConstantOf({static_cast<int32_t>(b.size())}, b));
    made.Node(op, inputs);
    const Result<testing::TwoAnswers> answers = AnswersOf(opened_, made, Precision::kFp32);
    ASSERT_TRUE(answers.ok()) << answers.status().message();
    for (size_t i = 0; i < a.size(); ++i) {
      const double expected = answers->reference[i];
      EXPECT_NEAR(answers->device[i], expected, tolerance * std::max(1.0, std::fabs(expected)))
          << OpName(op) << " " << AttributesToText(op) << " of " << a[i] << (b.empty() ? "" : " and ")
          << (b.empty() ? 0.0f : b[i]);
    }
  }
};

TEST_P(LargeNumbers, HaveTheirOwnSineAndCosine) {
  std::vector<float> angles;
  for (float angle = 1000.0f; angle < 3e38f; angle *= 1.37f) {
    angles.push_back(angle);
    angles.push_back(-angle);
  }
  angles.insert(angles.end(), {8191.9995f, 8192.0f, -8192.0f, 16777216.0f, 2147483648.0f, 3.4028235e38f});
  for (const UnaryKind kind : {UnaryKind::kSin, UnaryKind::kCos}) ExpectAsReference(Unary{kind}, angles, {}, 2e-6);
}

TEST_P(LargeNumbers, DivideWhatIsSmallBesideThemDownwards) {
  const std::vector<float> a = {-0.5f, 0.5f, -1.0f, 1.0f, -7.0f, 100.25f, -0.5f, 0.5f, 1e-30f, -1e-30f, 6.0f, -6.0f};
  const std::vector<float> b = {16777216.0f, -8388610.0f, 1e10f, 1e10f, 3e38f, -1e30f,
                                -1e10f,      8388608.0f,  -7.0f, 7.0f,  3.0f,  3.0f};
  for (const BinaryKind kind : {BinaryKind::kFloorDiv, BinaryKind::kFloorMod})
    ExpectAsReference(Binary{.kind = kind}, a, b, 1e-6);
}

// However many digits of it are lost.
TEST_P(LargeNumbers, LeaveRemaindersThatAreSmallerThanTheDivisor) {
  OneInputGraph made({6});
  made.x = {1e10f, 1e20f, 3e30f, -1e10f, -1e20f, 3e38f};
  made.Node(Binary{.kind = BinaryKind::kFloorMod},
            {made.input(), made.ConstantOf({6}, std::vector{1.5f, 7.3f, 1e4f, 1.1f, 0.3f, -103.5f})});
  const Result<testing::TwoAnswers> answers = AnswersOf(opened_, made, Precision::kFp32);
  ASSERT_TRUE(answers.ok()) << answers.status().message();
  const std::vector<float> sizes = {1.5f, 7.3f, 1e4f, 1.1f, 0.3f, 103.5f};
  for (size_t i = 0; i < sizes.size(); ++i) EXPECT_LE(std::fabs(answers->device[i]), sizes[i]) << made.x[i];
}

TEST_P(LargeNumbers, AsPowersOfOneAreOne) {
  const float infinity = std::numeric_limits<float>::infinity();
  ExpectAsReference(Binary{.kind = BinaryKind::kPow}, {1.0f, 1.0f, -1.0f, -1.0f, 1.0f},
                    {infinity, -infinity, infinity, -infinity, 3e38f}, 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Devices, LargeNumbers, ::testing::Values("cpu", "opencl", "vulkan", "gles"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace hearth
