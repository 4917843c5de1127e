#include "hal/plan_runner.h"

#include <gtest/gtest.h>

#include "backends/null/device.h"
#include "tests/testing/memory_store.h"
#include "tests/testing/parsed_graph.h"

namespace hearth {
namespace {

// Six channels, which lie in eight on a device.
constexpr std::string_view kTwoSteps = R"(graph "two steps"
%0 = input : float32[1x2x2x6] "x"
%1 = softmax(%0) : float32[1x2x2x6] "a" node "softmax" operator 0
%2 = softmax(%1) : float32[1x2x2x6] "b" node "again" operator 1
output %2
)";
constexpr uint64_t kDeviceBytes = 2 * 2 * 8 * sizeof(float);

class PlanRunnerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    plan_ = testing::Lowered(testing::Parsed(kTwoSteps), device_.info());
    Start(nullptr);
    ASSERT_NE(runner_, nullptr);
  }

  void Start(ResultCache* store) {
    auto runner = PlanRunner::Create(plan_, {.device = &device_, .store = store});
    ASSERT_TRUE(runner.ok()) << runner.status().message();
    runner_ = std::move(runner).value();
  }

  NullDevice device_{NullDeviceInfo()};
  Plan plan_;
  std::unique_ptr<PlanRunner> runner_;
  std::vector<std::byte> in_ = std::vector<std::byte>(2 * 2 * 6 * sizeof(float)), out_ = in_;
  std::vector<std::span<const std::byte>> inputs_ = {in_};
  std::vector<std::span<std::byte>> outputs_ = {out_};
};

TEST_F(PlanRunnerTest, ARunASubmittedRunAndAProfiledRunCopyTheSameBytes) {
  const auto expect_one_copy_each_way = [&] {
    EXPECT_EQ(runner_->transfers().to_device_bytes, kDeviceBytes);
    EXPECT_EQ(runner_->transfers().to_host_bytes, kDeviceBytes);
  };
  ASSERT_TRUE(runner_->Run(inputs_, outputs_).ok());
  expect_one_copy_each_way();
  ASSERT_TRUE(runner_->Submit(0, inputs_, outputs_).ok());
  ASSERT_TRUE(runner_->Finish(0, outputs_).ok());
  expect_one_copy_each_way();
  std::vector<ProfileRow> profile;
  ASSERT_TRUE(runner_->Run(inputs_, outputs_, &profile).ok());
  expect_one_copy_each_way();
  EXPECT_EQ(profile.size(), runner_->plan().dispatch_count());
}

TEST_F(PlanRunnerTest, ARunIsRefusedWhileAnotherIsInFlightAndWorksAfterIt) {
  ASSERT_TRUE(runner_->Submit(3, inputs_, outputs_).ok());
  EXPECT_EQ(runner_->Run(inputs_, outputs_).code(), StatusCode::kInternal);
  EXPECT_TRUE(runner_->Finish(3, outputs_).ok());
  EXPECT_TRUE(runner_->Run(inputs_, outputs_).ok());
}

TEST_F(PlanRunnerTest, ARunNeedsNoKernelsAndDispatchesBesideThePlans) {
  const int64_t before = device_.counts().dispatches_run;
  ASSERT_TRUE(runner_->Run(inputs_, outputs_).ok());
  EXPECT_EQ(device_.counts().dispatches_run - before, static_cast<int64_t>(runner_->plan().dispatch_count()));
  EXPECT_EQ(runner_->more_programs_compiled(), 0);
  ASSERT_TRUE(runner_->Submit(0, inputs_, outputs_).ok());
  ASSERT_TRUE(runner_->Finish(0, outputs_).ok());
  EXPECT_GT(runner_->more_programs_compiled(), 0);
}

TEST_F(PlanRunnerTest, WhatRunsInFlightCompileAfterASaveIsStoredByTheNext) {
  testing::MemoryStore store;
  Start(&store);
  ASSERT_TRUE(runner_->Run(inputs_, outputs_).ok());
  EXPECT_GT(store.claims(), 0);
  EXPECT_TRUE(runner_->SaveToStore(true).empty());
  EXPECT_FALSE(runner_->HasMoreToStore());
  ASSERT_TRUE(runner_->Submit(0, inputs_, outputs_).ok());
  EXPECT_GT(runner_->more_programs_compiled(), 0);
  EXPECT_EQ(store.claims(), 0) << "the next save may never come: no other process is to wait for it";
  EXPECT_FALSE(runner_->HasMoreToStore()) << "drivers hold no machine code before the first run";
  ASSERT_TRUE(runner_->Finish(0, outputs_).ok());
  EXPECT_TRUE(runner_->HasMoreToStore());
  EXPECT_TRUE(runner_->SaveToStore(false).empty());
  EXPECT_FALSE(runner_->HasMoreToStore());

  Start(&store);
  ASSERT_TRUE(runner_->Submit(0, inputs_, outputs_).ok());
  ASSERT_TRUE(runner_->Finish(0, outputs_).ok());
  EXPECT_EQ(runner_->more_programs_compiled(), 0);
}

TEST_F(PlanRunnerTest, ProgramsThatHaveNotRunAreNotStoredAndNobodyWaitsForThem) {
  testing::MemoryStore store;
  Start(&store);
  ASSERT_TRUE(runner_->Run(inputs_, outputs_).ok());
  ASSERT_TRUE(runner_->Submit(0, inputs_, outputs_).ok());
  EXPECT_TRUE(runner_->SaveToStore(true).empty());
  EXPECT_EQ(store.claims(), 0);
  const size_t entries = store.entries().size();
  ASSERT_TRUE(runner_->Finish(0, outputs_).ok());
  EXPECT_TRUE(runner_->SaveToStore(false).empty());
  EXPECT_GT(store.entries().size(), entries);
}

}  // namespace
}  // namespace hearth
