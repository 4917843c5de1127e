// A program that computes otherwise than programs start gets the same results, and keeps its way of computing.
#include "core/base/float_environment.h"

#include <gtest/gtest.h>

#include <cfenv>
#include <limits>
#include <thread>

#include "core/base/threads.h"
#include "hearth/graph_builder.h"
#include "tests/testing/device_names.h"
#include "tests/testing/on_device.h"

namespace hearth {
namespace {

// How this thread computes, back at the end.
class KeptEnvironment {
 public:
  KeptEnvironment() { std::fegetenv(&before_); }
  ~KeptEnvironment() { std::fesetenv(&before_); }
  KeptEnvironment(const KeptEnvironment&) = delete;
  KeptEnvironment& operator=(const KeptEnvironment&) = delete;

 private:
  std::fenv_t before_;
};

constexpr int kSize = 64;

// A convolution, and functions that take exp.
Model MaskModel() {
  GraphBuilder builder("mask");
  const auto x = builder.Input("x", {1, kSize, kSize, 3});
  std::vector<float> weights(static_cast<size_t>(3) * 3 * 3 * 5);
  for (size_t k = 0; k < weights.size(); ++k) weights[k] = 0.1f * static_cast<float>(k % 7) - 0.3f;
  const auto filter = builder.Constant("filter", {5, 3, 3, 3}, weights);
  const auto y = builder.Conv2D(x, filter, {}, {.activation = BuilderActivation::kRelu});
  builder.Output(builder.Unary("logistic", builder.Unary("tanh", y)), "mask");
  builder.Output(builder.Softmax(y), "classes");
  return std::move(builder).Build().value();
}

// The same however this thread computes.
std::vector<float> Picture() {
  std::vector<float> x(static_cast<size_t>(kSize) * kSize * 3);
  for (size_t k = 0; k < x.size(); ++k) x[k] = static_cast<float>(k * 37 % 1024) / 1024.0f;
  x[5] = std::numeric_limits<float>::quiet_NaN();
  x[50] = std::numeric_limits<float>::infinity();
  return x;
}

std::vector<std::byte> OutputsOf(Session session) {
  const std::vector<float> x = Picture();
  EXPECT_TRUE(session.SetInput<float>(0, x).ok());
  const Status ran = session.Run();
  EXPECT_TRUE(ran.ok()) << ran.message();
  std::vector<std::byte> all;
  for (size_t k = 0; k < session.outputs().size(); ++k)
    all.insert(all.end(), session.output(k).begin(), session.output(k).end());
  return all;
}

class FloatEnvironmentOn : public testing::SessionsOnDevice {};

TEST_P(FloatEnvironmentOn, TheProgramsRoundingChangesNoResult) {
  const Model model = MaskModel();
  const std::vector<std::byte> usual = OutputsOf(Opened(model));
  for (const int rounding : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    const KeptEnvironment kept;
    ASSERT_EQ(std::fesetround(rounding), 0);
    EXPECT_TRUE(OutputsOf(Opened(model)) == usual) << "rounding " << rounding;
    EXPECT_EQ(std::fegetround(), rounding);
  }
}

// Of a device that is opened while they are signals: its threads begin as the one that opens it.
TEST_P(FloatEnvironmentOn, ExceptionsThatTheProgramTrapsEndNothing) {
  const Model model = MaskModel();
  const KeptEnvironment kept;
  const int trapped = FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW;
  if (::feenableexcept(trapped) == -1 || (::fegetexcept() & trapped) != trapped)
    GTEST_SKIP() << "this processor makes no signals of floating-point exceptions";
  EXPECT_FALSE(OutputsOf(Opened(model)).empty());
  EXPECT_EQ(::fegetexcept() & trapped, trapped);
}

INSTANTIATE_TEST_SUITE_P(Devices, FloatEnvironmentOn, ::testing::ValuesIn(testing::DeviceNames()));

TEST(FloatEnvironment, ThreadsOfOursBeginAsProgramsDo) {
  const KeptEnvironment kept;
  std::fesetround(FE_UPWARD);
  int rounding = -1;
  std::thread thread;
  ASSERT_TRUE(StartThread(thread, [&] { rounding = std::fegetround(); }).ok());
  thread.join();
  EXPECT_EQ(rounding, FE_TONEAREST);
  EXPECT_EQ(std::fegetround(), FE_UPWARD);
}

#if defined(__x86_64__)
TEST(FloatEnvironment, SubnormalNumbersAreNumbersForTheTimeOfACall) {
  constexpr unsigned kFlushToZero = 0x8040;
  const KeptEnvironment kept;
  _mm_setcsr(_mm_getcsr() | kFlushToZero);
  {
    const DefaultFloatEnvironment environment;
    EXPECT_EQ(_mm_getcsr() & kFlushToZero, 0u);
  }
  EXPECT_EQ(_mm_getcsr() & kFlushToZero, kFlushToZero);
}
#endif

}  // namespace
}  // namespace hearth
