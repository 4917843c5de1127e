#include "hal/run/plan_runs.h"

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

class PlanRunsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    plan_ = testing::Lowered(testing::Parsed(kTwoSteps), device_.info());
    Start(nullptr);
    ASSERT_NE(ready_.runs, nullptr);
  }

  void Start(ResultCache* store) {
    Result<ReadyPlan> ready = MakePlanReady(plan_, {.device = &device_, .store = store});
    ASSERT_TRUE(ready.ok()) << ready.status().message();
    ready_ = std::move(ready).value();
  }

  NullDevice device_{NullDeviceInfo()};
  Plan plan_;
  ReadyPlan ready_;
  std::vector<std::byte> in_ = std::vector<std::byte>(2 * 2 * 6 * sizeof(float)), out_ = in_;
  std::vector<std::span<const std::byte>> inputs_ = {in_};
  std::vector<std::span<std::byte>> outputs_ = {out_};
};

TEST_F(PlanRunsTest, ARunASubmittedRunAndAProfiledRunCopyTheSameBytes) {
  const auto expect_one_copy_each_way = [&] {
    EXPECT_EQ(ready_.runs->transfers().to_device_bytes, kDeviceBytes);
    EXPECT_EQ(ready_.runs->transfers().to_host_bytes, kDeviceBytes);
  };
  ASSERT_TRUE(ready_.runs->Run(inputs_, outputs_).ok());
  expect_one_copy_each_way();
  ASSERT_TRUE(ready_.runs->Submit({SlotKind::kInFlight, 0}, inputs_, outputs_).ok());
  ASSERT_TRUE(ready_.runs->Finish({SlotKind::kInFlight, 0}, outputs_).ok());
  expect_one_copy_each_way();
  std::vector<ProfileRow> profile;
  ASSERT_TRUE(ready_.runs->Run(inputs_, outputs_, {.profile = &profile}).ok());
  expect_one_copy_each_way();
  EXPECT_EQ(profile.size(), ready_.plan().dispatches.size());
}

TEST_F(PlanRunsTest, ARunBetweenARunInFlightAndItsEndWaitsForThat) {
  ASSERT_TRUE(ready_.runs->Submit({SlotKind::kInFlight, 3}, inputs_, outputs_).ok());
  EXPECT_TRUE(ready_.runs->Run(inputs_, outputs_).ok());
  EXPECT_TRUE(ready_.runs->Finish({SlotKind::kInFlight, 3}, outputs_).ok());
  EXPECT_TRUE(ready_.runs->Run(inputs_, outputs_).ok());
}

TEST_F(PlanRunsTest, ARunNeedsNoKernelsAndDispatchesBesideThePlans) {
  const int64_t before = device_.counts().dispatches_run;
  ASSERT_TRUE(ready_.runs->Run(inputs_, outputs_).ok());
  EXPECT_EQ(device_.counts().dispatches_run - before, static_cast<int64_t>(ready_.plan().dispatches.size()));
  EXPECT_EQ(ready_.runs->more_programs().compiled(), 0);
  ASSERT_TRUE(ready_.runs->Submit({SlotKind::kInFlight, 0}, inputs_, outputs_).ok());
  ASSERT_TRUE(ready_.runs->Finish({SlotKind::kInFlight, 0}, outputs_).ok());
  EXPECT_GT(ready_.runs->more_programs().compiled(), 0);
}

TEST_F(PlanRunsTest, WhatRunsInFlightCompileAfterASaveIsStoredByTheNext) {
  testing::MemoryStore store;
  Start(&store);
  ASSERT_TRUE(ready_.runs->Run(inputs_, outputs_).ok());
  EXPECT_GT(store.claims(), 0);
  EXPECT_TRUE(ready_.runs->Store(true).empty());
  EXPECT_FALSE(ready_.runs->HasMoreToStore());
  ASSERT_TRUE(ready_.runs->Submit({SlotKind::kInFlight, 0}, inputs_, outputs_).ok());
  EXPECT_GT(ready_.runs->more_programs().compiled(), 0);
  EXPECT_EQ(store.claims(), 0) << "the next save may never come: no other process is to wait for it";
  EXPECT_FALSE(ready_.runs->HasMoreToStore()) << "drivers hold no machine code before the first run";
  ASSERT_TRUE(ready_.runs->Finish({SlotKind::kInFlight, 0}, outputs_).ok());
  EXPECT_TRUE(ready_.runs->HasMoreToStore());
  EXPECT_TRUE(ready_.runs->StoreMore().empty());
  EXPECT_FALSE(ready_.runs->HasMoreToStore());

  Start(&store);
  ASSERT_TRUE(ready_.runs->Submit({SlotKind::kInFlight, 0}, inputs_, outputs_).ok());
  ASSERT_TRUE(ready_.runs->Finish({SlotKind::kInFlight, 0}, outputs_).ok());
  EXPECT_EQ(ready_.runs->more_programs().compiled(), 0);
}

TEST_F(PlanRunsTest, ProgramsThatHaveNotRunAreNotStoredAndNobodyWaitsForThem) {
  testing::MemoryStore store;
  Start(&store);
  ASSERT_TRUE(ready_.runs->Run(inputs_, outputs_).ok());
  ASSERT_TRUE(ready_.runs->Submit({SlotKind::kInFlight, 0}, inputs_, outputs_).ok());
  EXPECT_TRUE(ready_.runs->Store(true).empty());
  EXPECT_EQ(store.claims(), 0);
  const size_t entries = store.entries().size();
  ASSERT_TRUE(ready_.runs->Finish({SlotKind::kInFlight, 0}, outputs_).ok());
  EXPECT_TRUE(ready_.runs->StoreMore().empty());
  EXPECT_GT(store.entries().size(), entries);
}

}  // namespace
}  // namespace hearth
