// 1x1 convolutions by a subgroup's matrices give the reference's result, in every tile that tuning may choose. Skipped
// on drivers without VK_KHR_cooperative_matrix; lavapipe of Mesa 26.1 has it (tests/drivers).
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "core/device/device_rules.h"
#include "core/lowering/group_product.h"
#include "tests/testing/on_device.h"
#include "tests/testing/one_input.h"

namespace hearth {
namespace {

using testing::OneInputGraph;

constexpr testing::Range kSmall = {-1, 1};

class CooperativeMatrices : public testing::Fp16Device {
 protected:
  void SetUp() override {
    testing::Fp16Device::SetUp();
    if (IsSkipped()) return;
    opened_.info.forced_rules = ForcedRulesFromText("+cooperative_matrices").value();
    if (!Applies(Rule::kCooperativeMatrices, opened_.info)) GTEST_SKIP() << opened_.id << " multiplies no matrices";
  }

  testing::TwoAnswers AnswersTo(OneInputGraph& made, Precision precision) {
    Result<testing::TwoAnswers> answers = AnswersOf(opened_, made, precision);
    EXPECT_TRUE(answers.ok()) << answers.status().message();
    return answers.ok() ? std::move(answers).value() : testing::TwoAnswers();
  }
};

OneInputGraph PointwiseLayer(const Shape& image, int32_t channels_out) {
  OneInputGraph made(image, kSmall);
  made.Node(
      Conv2D{.activation = Activation::kRelu},
      {made.input(), made.Constant({channels_out, 1, 1, image[3]}, kSmall), made.Constant({channels_out}, kSmall)});
  return made;
}

// Pixels, channels and depth that matrices do not divide, and ones that they do. Both factors and the result are
// rounded to 16 bits.
TEST_P(CooperativeMatrices, GiveTheReferencesResult) {
  struct Case {
    Shape image;
    int32_t channels_out;
  };
  for (const Case& test :
       {Case{{1, 16, 16, 32}, 64}, {{1, 9, 11, 70}, 30}, {{2, 5, 7, 13}, 35}, {{1, 3, 6, 130}, 131}}) {
    for (const Precision precision : {Precision::kFp32_16, Precision::kFp16}) {
      OneInputGraph made = PointwiseLayer(test.image, test.channels_out);
      EXPECT_LT(RelativeErrorOf(AnswersTo(made, precision)), 3 * 0x1p-11)
          << test.image.ToString() << " " << PrecisionName(precision);
    }
  }
}

TEST_P(CooperativeMatrices, KeepANan) {
  OneInputGraph made = PointwiseLayer({1, 9, 11, 70}, 30);
  made.x[700] = std::numeric_limits<float>::quiet_NaN();
  const testing::TwoAnswers answers = AnswersTo(made, Precision::kFp16);
  for (size_t k = 0; k < answers.device.size(); ++k)
    ASSERT_EQ(std::isnan(answers.device[k]), std::isnan(answers.reference[k])) << k;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CooperativeMatrices);
INSTANTIATE_TEST_SUITE_P(Devices, CooperativeMatrices, ::testing::Values("vulkan"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace hearth
