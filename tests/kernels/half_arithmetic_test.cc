// Matrix products and convolutions that multiply numbers of 16 bits: where lowering lets them, and what comes out.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "backends/null/device.h"
#include "core/device/device_profiles.h"
#include "core/device/device_rules.h"
#include "core/emit/arithmetic.h"
#include "tests/testing/on_device.h"
#include "tests/testing/one_input.h"
#include "tests/testing/parsed_graph.h"

namespace hearth {
namespace {

using testing::OneInputGraph;

DeviceInfo As(const char* profile, Dialect dialect) {
  DeviceInfo driver = NullDeviceInfo();
  driver.type = DeviceType::kCpu;
  driver.dialect = dialect;
  driver.local_memory_bytes = 65536;
  DeviceInfo device = Simulated(driver, *FindDeviceProfile(profile).value());
  device.forced_rules = ForcedRulesFromText("+half_arithmetic").value();
  return device;
}

// Of a convolution of this many pixels a side, 1x1 or 3x3.
int HalfProductsFor(const DeviceInfo& device, Precision precision, int pixels, int window) {
  const Graph graph = testing::Parsed(fmt::format(
      "%0 = input : float32[1x{0}x{0}x32] \"x\"\n%1 = constant : float32[32x{1}x{1}x32] \"w\" = fill(pattern)\n"
      "%2 = conv_2d(%0, %1, none) padding=same : float32[1x{0}x{0}x32] \"y\" node \"conv\"\noutput %2\n",
      pixels, window));
  LowerOptions options{.precision = precision};
  return HalfProductsOf(testing::Lowered(graph, device, options).kernels.at(0));
}

TEST(HalfArithmetic, FollowsThePrecisionOnGpusThatHaveIt) {
  for (const int window : {1, 3}) {
    for (const Dialect dialect : {Dialect::kOpenCl, Dialect::kGles, Dialect::kVulkan}) {
      const DeviceInfo device = As("navi21", dialect);
      EXPECT_EQ(HalfProductsFor(device, Precision::kFp32, 14, window), 0);
      EXPECT_EQ(HalfProductsFor(device, Precision::kFp32_16, 14, window), 4);
      EXPECT_EQ(HalfProductsFor(device, Precision::kFp16, 14, window), 16);
    }
    EXPECT_EQ(HalfProductsFor(As("polaris10", Dialect::kVulkan), Precision::kFp16, 14, window), 0);
  }
}

TEST(HalfArithmetic, LeavesWhatIsHeldIn32BitsAlone) {
  EXPECT_EQ(HalfProductsFor(As("navi21", Dialect::kVulkan), Precision::kFp16, 1, 1), 0);
}

class HalfArithmeticOnDevices : public testing::Fp16Device {
 protected:
  void SetUp() override {
    testing::Fp16Device::SetUp();
    if (IsSkipped()) return;
    opened_.info.forced_rules = ForcedRulesFromText("+half_arithmetic").value();
    if (!Applies(Rule::kHalfArithmetic, opened_.info)) GTEST_SKIP() << opened_.id << " does not calculate in 16 bits";
  }

  double ErrorOf(OneInputGraph& made, Precision precision) {
    const Result<testing::TwoAnswers> answers = AnswersOf(opened_, made, precision);
    EXPECT_TRUE(answers.ok()) << answers.status().message();
    if (!answers.ok()) return std::numeric_limits<double>::infinity();
    return testing::RelativeErrorOf(*answers);
  }
};

const Shape kImage = {1, 9, 11, 70};
constexpr testing::Range kAroundZero = {-1, 1};

OneInputGraph Convolution(const Shape& filter) {
  OneInputGraph made(kImage, kAroundZero);
  made.Node(Conv2D{{.padding = {PaddingMode::kSame}}},
            {made.input(), made.Constant(filter, kAroundZero), made.Constant({filter[0]})});
  return made;
}

// Of 70 and 630 products, of which blocks of 4 or, since 18 slices are even, of 8 have sums of 16 bits.
TEST_P(HalfArithmeticOnDevices, IsOffByLittleMoreThanARoundingTo16Bits) {
  for (const Shape& filter : {Shape{30, 1, 1, 70}, Shape{30, 3, 3, 70}}) {
    for (const Precision precision : {Precision::kFp32_16, Precision::kFp16}) {
      OneInputGraph made = Convolution(filter);
      EXPECT_LT(ErrorOf(made, precision), 4 * 0x1p-11) << PrecisionName(precision);
    }
  }
}

TEST_P(HalfArithmeticOnDevices, GivesOtherBitsThanFloats) {
  const auto answer = [&](std::string_view rules) {
    OneInputGraph made = Convolution({30, 3, 3, 70});
    opened_.info.forced_rules = ForcedRulesFromText(rules).value();
    const Result<testing::TwoAnswers> answers = AnswersOf(opened_, made, Precision::kFp16);
    EXPECT_TRUE(answers.ok()) << answers.status().message();
    return answers.ok() ? answers->device : std::vector<float>();
  };
  EXPECT_NE(answer("+half_arithmetic"), answer("-half_arithmetic"));
}

TEST_P(HalfArithmeticOnDevices, KeepsANan) {
  for (const Precision precision : {Precision::kFp16, Precision::kFp32_16}) {
    OneInputGraph made = Convolution({30, 3, 3, 70});
    made.x[700] = std::numeric_limits<float>::quiet_NaN();
    const Result<testing::TwoAnswers> answers = AnswersOf(opened_, made, precision);
    ASSERT_TRUE(answers.ok()) << answers.status().message();
    for (size_t k = 0; k < answers->device.size(); ++k)
      ASSERT_EQ(std::isnan(answers->device[k]), std::isnan(answers->reference[k])) << k;
  }
}

TEST_P(HalfArithmeticOnDevices, TakesFiltersThatAreComputed) {
  OneInputGraph made(kImage, kAroundZero);
  const ValueId filter = made.Node(Unary{UnaryKind::kNeg}, {made.Constant({30, 3, 3, 70}, kAroundZero)});
  made.Node(Conv2D{{.padding = {PaddingMode::kSame}}}, {made.input(), filter, made.Constant({30})});
  EXPECT_LT(ErrorOf(made, Precision::kFp16), 4 * 0x1p-11);
}

INSTANTIATE_TEST_SUITE_P(Devices, HalfArithmeticOnDevices, ::testing::Values("opencl", "gles", "vulkan"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace hearth
