// Submissions that no watchdog ends: cut by estimated work, and anew after runs were measured.
#include "hal/watchdog_slices.h"

#include <gtest/gtest.h>

#include <numeric>

#include "backends/null/device.h"
#include "core/graph/evaluate.h"
#include "core/graph/graph_text.h"
#include "core/lowering/lower.h"
#include "core/plan/dispatch_cost.h"
#include "hal/plan_runner.h"

namespace hearth {
namespace {

// Three convolutions of some 75 ms each, by the estimate for a GPU of one compute unit; little to copy at both ends.
constexpr std::string_view kNetwork = R"(graph "long"
%0 = input : float32[1x128x128x4] "x"
%1 = constant : float32[64x3x3x4] "first" = fill(pattern)
%2 = constant : float32[64x3x3x64] "second" = fill(pattern)
%3 = constant : float32[64x3x3x64] "third" = fill(pattern)
%4 = constant : float32[64x3x3x64] "fourth" = fill(pattern)
%5 = conv_2d(%0, %1, none) padding=same : float32[1x128x128x64] "a" node "one" operator 0
%6 = conv_2d(%5, %2, none) padding=same : float32[1x128x128x64] "b" node "two" operator 1
%7 = conv_2d(%6, %3, none) padding=same : float32[1x128x128x64] "c" node "three" operator 2
%8 = conv_2d(%7, %4, none) stride=128x128 padding=same : float32[1x1x1x64] "d" node "four" operator 3
output %8
)";

DeviceInfo Gpu(uint32_t compute_units) {
  DeviceInfo info = NullDeviceInfo();
  info.type = DeviceType::kDiscreteGpu;
  info.compute_units = compute_units;
  return info;
}

class WatchdogSlices : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<Graph> graph = GraphFromText(kNetwork);
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    graph_ = std::move(graph).value();
    ASSERT_TRUE(InferShapes(graph_).ok());
  }

  Plan PlanFor(const DeviceInfo& info) const {
    LowerOptions options;
    options.preference = Preference::kFastSingleAnswer;  // a dispatch for each node
    Result<Plan> plan = Lower(graph_, info, options);
    EXPECT_TRUE(plan.ok()) << plan.status().message();
    return std::move(plan).value();
  }

  std::vector<std::vector<size_t>> Slices(const DeviceInfo& info, double correction = 1) const {
    const Plan plan = PlanFor(info);
    std::vector<size_t> all(plan.steps.size());
    std::iota(all.begin(), all.end(), size_t{0});
    return SlicesOf(plan, all, info, correction);
  }

  Graph graph_;
};

TEST_F(WatchdogSlices, ASlowGpuGetsSeveralThatKeepTheOrder) {
  const std::vector<std::vector<size_t>> slices = Slices(Gpu(1));
  EXPECT_GE(slices.size(), 2u);
  size_t next = 0;
  for (const std::vector<size_t>& slice : slices) {
    EXPECT_FALSE(slice.empty());
    for (const size_t step : slice) EXPECT_EQ(step, next++);
  }
}

TEST_F(WatchdogSlices, EachIsEstimatedBelowTheLimitUnlessADispatchAloneIsNot) {
  const DeviceInfo info = Gpu(1);
  const Plan plan = PlanFor(info);
  for (const double correction : {1.0, 4.0}) {
    for (const std::vector<size_t>& slice : Slices(info, correction)) {
      double ms = 0;
      for (const size_t step : slice) {
        const auto& dispatch = std::get<Dispatch>(plan.steps[step]);
        ms += correction * EstimatedMs(dispatch, plan.kernels[dispatch.kernel], info);
      }
      EXPECT_TRUE(ms <= 100 || slice.size() == 1) << ms;
    }
  }
}

TEST_F(WatchdogSlices, AFastGpuGetsOne) {
  EXPECT_EQ(Slices(Gpu(60)).size(), 1u);
}

TEST_F(WatchdogSlices, ASoftwareDriverGetsOne) {
  DeviceInfo info = Gpu(1);
  info.type = DeviceType::kCpu;
  EXPECT_EQ(Slices(info).size(), 1u);
}

TEST_F(WatchdogSlices, MeasuredRunsCorrectTheEstimate) {
  EXPECT_EQ(Slices(Gpu(1), 0.01).size(), 1u);
  EXPECT_GT(Slices(Gpu(60), 100).size(), 1u);
}

TEST_F(WatchdogSlices, ARunnerSubmitsThemAndCutsAnewOnceRunsTurnOutShort) {
  NullDevice device(Gpu(1));
  const size_t slices = Slices(device.info()).size();
  RunnerParts parts;
  parts.device = &device;
  parts.graph = &graph_;
  auto runner = PlanRunner::Create(PlanFor(device.info()), parts);
  ASSERT_TRUE(runner.ok()) << runner.status().message();
  std::vector<std::byte> in(128 * 128 * 4 * sizeof(float)), out(64 * sizeof(float));
  const std::vector<std::span<const std::byte>> inputs = {in};
  const std::vector<std::span<std::byte>> outputs = {out};
  std::vector<uint64_t> submissions;
  for (int k = 0; k < 4; ++k) {
    const uint64_t before = device.counts().submissions;
    const Status status = (*runner)->Run(inputs, outputs);
    ASSERT_TRUE(status.ok()) << status.message();
    submissions.push_back(device.counts().submissions - before);
  }
  EXPECT_EQ(submissions, (std::vector<uint64_t>{slices, slices, 1, 1}));
}

TEST(SliceClock, IgnoresTheFirstRunAndCorrectsTwice) {
  SliceClock clock;
  EXPECT_FALSE(clock.NoteRun(5000, 100));
  EXPECT_EQ(clock.correction(), 1);
  EXPECT_TRUE(clock.NoteRun(50, 100));
  EXPECT_EQ(clock.correction(), 0.5);
  EXPECT_FALSE(clock.NoteRun(30, 100));
  EXPECT_TRUE(clock.NoteRun(40, 100));
  EXPECT_EQ(clock.correction(), 0.3);
  EXPECT_FALSE(clock.NoteRun(1, 100));
  EXPECT_EQ(clock.correction(), 0.3);
}

}  // namespace
}  // namespace hearth
