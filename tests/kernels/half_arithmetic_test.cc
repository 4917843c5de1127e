// Matrix products and convolutions that multiply numbers of 16 bits: where lowering lets them, and what comes out.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <string_view>

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

DeviceInfo As(const char* profile, Dialect dialect, std::string_view rules = "") {
  DeviceInfo driver = NullDeviceInfo();
  driver.type = DeviceType::kCpu;
  driver.dialect = dialect;
  driver.local_memory_bytes = 65536;
  DeviceInfo device = Simulated(driver, *FindDeviceProfile(profile).value());
  device.forced_rules = ForcedRulesFromText(rules).value();
  return device;
}

struct ProductLayer {
  int pixels = 14;  // a side
  int channels = 64;
  int window = 1;
  const char* before = "relu6";  // what makes its input
  const char* weights = "fill(pattern)";
};

// How many products of the layer one 16-bit sum holds.
int HalfProductsFor(const DeviceInfo& device, Precision precision, const ProductLayer& layer = {}) {
  const Graph graph = testing::Parsed(
      fmt::format("%0 = input : float32[1x{0}x{0}x{1}] \"x\"\n%1 = constant : float32[32x{2}x{2}x{1}] \"w\" = {3}\n"
                  "%2 = {4}(%0) : float32[1x{0}x{0}x{1}] \"bounded\"\n"
                  "%3 = conv_2d(%2, %1, none) padding=same : float32[1x{0}x{0}x32] \"y\" node \"conv\"\noutput %3\n",
                  layer.pixels, layer.channels, layer.window, layer.weights, layer.before));
  const Plan plan = testing::Lowered(graph, device, {.precision = precision});
  return HalfProductsOf(plan.kernels.back());
}

TEST(HalfArithmetic, FollowsThePrecisionOnGpusThatHaveIt) {
  for (const int window : {1, 3}) {
    for (const Dialect dialect : {Dialect::kOpenCl, Dialect::kGles, Dialect::kVulkan}) {
      const DeviceInfo device = As("navi21", dialect);
      EXPECT_EQ(HalfProductsFor(device, Precision::kFp32, {.window = window}), 0);
      EXPECT_EQ(HalfProductsFor(device, Precision::kFp32_16, {.window = window}), 4);
      EXPECT_EQ(HalfProductsFor(device, Precision::kFp16, {.window = window}), 16);
      EXPECT_EQ(HalfProductsFor(As("navi21", dialect, "-half_arithmetic"), Precision::kFp16, {.window = window}), 0);
    }
    EXPECT_EQ(HalfProductsFor(As("polaris10", Dialect::kVulkan), Precision::kFp16, {.window = window}), 0);
  }
}

TEST(HalfArithmetic, LeavesWhatIsHeldIn32BitsAlone) {
  EXPECT_EQ(HalfProductsFor(As("navi21", Dialect::kVulkan), Precision::kFp16, {.pixels = 1}), 0);
}

TEST(HalfArithmetic, LeavesSumsOfFewChannelsAlone) {
  EXPECT_EQ(HalfProductsFor(As("navi21", Dialect::kVulkan), Precision::kFp16, {.channels = 60}), 0);
}

TEST(HalfArithmetic, LeavesSumsThatNothingBoundsAlone) {
  const ProductLayer layer{.before = "relu"};
  EXPECT_EQ(HalfProductsFor(As("navi21", Dialect::kVulkan), Precision::kFp16, layer), 0);
  EXPECT_EQ(HalfProductsFor(As("navi21", Dialect::kVulkan, "+unbounded_halves"), Precision::kFp16, layer), 16);
}

// 16 * 6 * 200 exceeds 2^14, which mediump can hold; 4 * 6 * 200 does not.
TEST(HalfArithmetic, LeavesSumsOfLargeWeightsAlone) {
  const ProductLayer layer{.weights = "fill(200)"};
  EXPECT_EQ(HalfProductsFor(As("navi21", Dialect::kVulkan), Precision::kFp16, layer), 0);
  EXPECT_EQ(HalfProductsFor(As("navi21", Dialect::kVulkan), Precision::kFp32_16, layer), 4);
}

// 6 * 1e-3 is the largest product, and most would be among the numbers of which float16 keeps few digits.
TEST(HalfArithmetic, LeavesSumsOfSmallProductsAlone) {
  for (const Precision precision : {Precision::kFp16, Precision::kFp32_16}) {
    EXPECT_EQ(HalfProductsFor(As("navi21", Dialect::kVulkan), precision, {.weights = "fill(0.001)"}), 0);
    EXPECT_NE(HalfProductsFor(As("navi21", Dialect::kVulkan), precision, {.weights = "fill(0.1)"}), 0);
  }
}

// Software drivers do not do it by themselves, and nothing bounds the inputs.
constexpr std::string_view kForced = "+half_arithmetic,+unbounded_halves";

class HalfArithmeticOnDevices : public testing::Fp16Device {
 protected:
  void SetUp() override {
    testing::Fp16Device::SetUp();
    if (IsSkipped()) return;
    opened_.info.forced_rules = ForcedRulesFromText(kForced).value();
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

TEST_P(HalfArithmeticOnDevices, IsOffAsLittleInTransposedConvolutions) {
  for (const Precision precision : {Precision::kFp32_16, Precision::kFp16}) {
    OneInputGraph made(kImage, kAroundZero);
    made.Node(TransposeConv{.height = 18, .width = 22, .stride_h = 2, .stride_w = 2, .padding = {PaddingMode::kSame}},
              {made.input(), made.Constant({30, 3, 3, 70}, kAroundZero), made.Constant({30})});
    EXPECT_LT(ErrorOf(made, precision), 4 * 0x1p-11) << PrecisionName(precision);
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
  EXPECT_NE(answer(kForced), answer("-half_arithmetic"));
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
