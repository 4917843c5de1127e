// Submissions that no watchdog ends: cut by estimated work, and anew after runs were measured.
#include "hal/run/watchdog_slices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <set>
#include <thread>

#include "backends/null/device.h"
#include "core/base/error.h"
#include "hal/run/plan_runs.h"
#include "tests/testing/parsed_graph.h"

namespace hearth {
namespace {

// Three convolutions of some 75 ms each, by the estimate for a GPU of one compute unit; little to copy at both ends.
constexpr std::string_view kLongNetwork = R"(graph "long"
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

using Slices = std::vector<std::vector<DispatchPart>>;

class WatchdogSlices : public ::testing::Test {
 protected:
  Plan PlanFor(const DeviceInfo& info) const {
    LowerOptions options;
    options.preference = Preference::kFastSingleAnswer;  // a dispatch for each node
    return testing::Lowered(graph_, info, options);
  }

  Slices SlicesFor(const DeviceInfo& info, double correction = 1) const {
    const Plan plan = PlanFor(info);
    return SlicesOf(plan, plan.segments.at(0), info, SliceLimitMs(info), correction);
  }

  const Graph graph_ = testing::Parsed(kLongNetwork);
};

TEST_F(WatchdogSlices, ASlowGpuGetsSeveralThatKeepTheOrder) {
  const Slices slices = SlicesFor(Gpu(1));
  EXPECT_GE(slices.size(), 2u);
  size_t next = 0;
  for (const std::vector<DispatchPart>& slice : slices) {
    EXPECT_FALSE(slice.empty());
    for (const DispatchPart& part : slice) {
      EXPECT_EQ(part.dispatch, next++);
      EXPECT_TRUE(part.is_whole);
    }
  }
}

uint64_t GroupsOf(const std::array<uint32_t, 3>& count) {
  return uint64_t{count[0]} * count[1] * count[2];
}

TEST_F(WatchdogSlices, EachIsEstimatedBelowTheLimitUnlessItIsOneWorkGroup) {
  const DeviceInfo info = Gpu(1);
  const Plan plan = PlanFor(info);
  for (const double correction : {1.0, 4.0, 30.0}) {
    for (const std::vector<DispatchPart>& slice : SlicesFor(info, correction)) {
      double ms = 0;
      for (const DispatchPart& part : slice) {
        const Dispatch& dispatch = plan.dispatches[part.dispatch];
        ms += correction * EstimatedMs(dispatch, plan.kernels[dispatch.kernel], info) *
              static_cast<double>(GroupsOf(part.group_count)) / static_cast<double>(GroupsOf(dispatch.group_count));
      }
      EXPECT_TRUE(ms <= 100.001 || (slice.size() == 1 && GroupsOf(slice[0].group_count) == 1)) << ms;
    }
  }
}

TEST_F(WatchdogSlices, PartsOfADispatchAreEachOfItsWorkGroupsOnce) {
  const DeviceInfo info = Gpu(1);
  const Plan plan = PlanFor(info);
  for (const double correction : {4.0, 17.0, 100.0, 1e12}) {
    std::vector<std::set<std::array<uint32_t, 3>>> seen(plan.dispatches.size());
    for (const std::vector<DispatchPart>& slice : SlicesFor(info, correction)) {
      for (const DispatchPart& part : slice) {
        for (uint32_t x = 0; x < part.group_count[0]; ++x) {
          for (uint32_t y = 0; y < part.group_count[1]; ++y) {
            for (uint32_t z = 0; z < part.group_count[2]; ++z) {
              const bool is_new =
                  seen[part.dispatch].insert({part.first[0] + x, part.first[1] + y, part.first[2] + z}).second;
              ASSERT_TRUE(is_new);
            }
          }
        }
      }
    }
    for (size_t k = 0; k < seen.size(); ++k) EXPECT_EQ(seen[k].size(), GroupsOf(plan.dispatches[k].group_count));
  }
}

TEST_F(WatchdogSlices, AKernelThatTakesNoMoreScalarsStaysWhole) {
  DeviceInfo info = Gpu(1);
  const Plan plan = PlanFor(info);
  uint32_t most = 0;
  for (const KernelSource& kernel : plan.kernels) most = std::max<uint32_t>(most, 4 * kernel.scalars.size());
  info.max_scalar_bytes = most;
  for (const std::vector<DispatchPart>& slice : SlicesOf(plan, plan.segments.at(0), info, 100, 100)) {
    for (const DispatchPart& part : slice) {
      const KernelSource& kernel = plan.kernels[plan.dispatches[part.dispatch].kernel];
      EXPECT_TRUE(part.is_whole || 4 * (kernel.scalars.size() + 3) <= most) << kernel.name;
    }
  }
}

TEST_F(WatchdogSlices, AFastGpuGetsOne) {
  EXPECT_EQ(SlicesFor(Gpu(60)).size(), 1u);
}

TEST_F(WatchdogSlices, ASoftwareDriverGetsOne) {
  DeviceInfo info = Gpu(1);
  info.type = DeviceType::kCpu;
  EXPECT_EQ(SlicesFor(info).size(), 1u);
}

TEST_F(WatchdogSlices, MeasuredRunsCorrectTheEstimate) {
  EXPECT_EQ(SlicesFor(Gpu(1), 0.01).size(), 1u);
  EXPECT_GT(SlicesFor(Gpu(60), 100).size(), 1u);
}

// Runs of a plan on the null device, which ends them at once.
class ShortRuns {
 public:
  ShortRuns(const DeviceInfo& info, Plan plan, LoadRequest request) : device_(info) {
    request.device = &device_;
    Result<ReadyPlan> ready = MakePlanReady(std::move(plan), std::move(request));
    EXPECT_TRUE(ready.ok()) << ready.status().message();
    if (ready.ok()) ready_ = std::move(ready).value();
  }

  // The submissions of one run.
  uint64_t Run() {
    return Counted([&] { return ready_.runs->Run(inputs_, outputs_); });
  }
  // Of `count` runs in flight together.
  uint64_t SubmitAndFinish(size_t count) {
    return Counted([&]() -> Status {
      for (size_t slot = 0; slot < count; ++slot)
        HEARTH_TRY(ready_.runs->Submit({SlotKind::kInFlight, slot}, inputs_, outputs_));
      for (size_t slot = 0; slot < count; ++slot)
        HEARTH_TRY(ready_.runs->Finish({SlotKind::kInFlight, slot}, outputs_));
      return Status::Ok();
    });
  }

 private:
  template <typename Work>
  uint64_t Counted(Work&& work) {
    const uint64_t before = device_.counts().submissions;
    const Status status = work();
    EXPECT_TRUE(status.ok()) << status.message();
    return device_.counts().submissions - before;
  }

  NullDevice device_;
  std::vector<std::byte> in_ = std::vector<std::byte>(128 * 128 * 4 * sizeof(float)),
                         out_ = std::vector<std::byte>(64 * sizeof(float));
  const std::vector<std::span<const std::byte>> inputs_ = {in_};
  const std::vector<std::span<std::byte>> outputs_ = {out_};
  ReadyPlan ready_;
};

constexpr uint64_t kMoves = 2;  // a submitted run moves its inputs and outputs itself
constexpr int kManyRuns = 8;    // the thread may be kept from one of them for so long that it does not count

TEST_F(WatchdogSlices, ARunnerSubmitsThemAndCutsAnewOnceRunsTurnOutShort) {
  const uint64_t slices = SlicesFor(Gpu(1)).size();
  ShortRuns runs(Gpu(1), PlanFor(Gpu(1)), {.graph = &graph_});
  std::vector<uint64_t> submissions;
  for (int k = 0; k < 4; ++k) submissions.push_back(runs.Run());
  EXPECT_EQ(submissions, (std::vector<uint64_t>{slices, slices, 1, 1}));
}

TEST_F(WatchdogSlices, SubmittedRunsCountToo) {
  const uint64_t slices = SlicesFor(Gpu(1)).size();
  ShortRuns runs(Gpu(1), PlanFor(Gpu(1)), {.graph = &graph_});
  EXPECT_EQ(runs.SubmitAndFinish(1), slices + kMoves);
  for (int k = 0; k < kManyRuns; ++k) runs.SubmitAndFinish(1);
  EXPECT_EQ(runs.SubmitAndFinish(1), 1 + kMoves);
  EXPECT_EQ(runs.Run(), 1u);
}

TEST_F(WatchdogSlices, RunsInFlightTogetherDoNotCount) {
  const uint64_t slices = SlicesFor(Gpu(1)).size();
  ShortRuns runs(Gpu(1), PlanFor(Gpu(1)), {.graph = &graph_});
  for (int k = 0; k < kManyRuns; ++k) EXPECT_EQ(runs.SubmitAndFinish(2), 2 * (slices + kMoves));
}

TEST_F(WatchdogSlices, TimesOfASimulatedDeviceDoNotCount) {
  DeviceInfo info = Gpu(1);
  info.simulates = "navi21";
  const uint64_t slices = SlicesFor(info).size();
  ShortRuns runs(info, PlanFor(info), {.graph = &graph_});
  for (int k = 0; k < kManyRuns; ++k) {
    EXPECT_EQ(runs.Run(), slices);
    EXPECT_EQ(runs.SubmitAndFinish(1), slices + kMoves);
  }
}

// Runs nodes for a quarter of a second and makes nothing.
class SlowExecutor final : public HostExecutor {
 public:
  Result<std::unique_ptr<HostProgram>> Prepare(const Graph& /*graph*/, std::span<const int> /*nodes*/,
                                               std::span<const ValueId> /*outputs*/, int /*threads*/,
                                               const ModelBytesRead& /*read*/) override {
    return std::unique_ptr<HostProgram>(std::make_unique<Program>());
  }
  std::unique_ptr<HostExecutor> Beside() const override { return std::make_unique<SlowExecutor>(); }
  uint64_t live_weights_bytes() const override { return 0; }
  std::shared_ptr<BackgroundThreads> background_threads() const override { return nullptr; }

 private:
  class Program final : public HostProgram {
   public:
    Status Run(std::span<const HostTensor> /*tensors*/, const HostRun& /*run*/) override {
      std::this_thread::sleep_for(std::chrono::milliseconds(250));
      return Status::Ok();
    }
    std::span<std::byte> OutputInPlace(ValueId /*value*/) const override { return {}; }
    uint64_t arena_bytes() const override { return 0; }
    uint64_t naive_bytes() const override { return 0; }
    uint64_t lower_bound_bytes() const override { return 0; }
    uint64_t weights_bytes() const override { return 0; }
    uint64_t shared_weights_bytes() const override { return 0; }
    uint64_t found_weights_bytes() const override { return 0; }
  };
};

TEST_F(WatchdogSlices, RunsWithStepsOnTheCpuCountWithoutThoseSteps) {
  LowerOptions options;
  options.preference = Preference::kFastSingleAnswer;
  options.cpu_ops = {"op:3"};
  SlowExecutor executor;
  ShortRuns runs(Gpu(1), testing::Lowered(graph_, Gpu(1), options), {.graph = &graph_, .host = &executor});
  const uint64_t before = runs.Run();
  runs.Run();
  EXPECT_LT(runs.Run(), before);
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
