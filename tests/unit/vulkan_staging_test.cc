// Runs on a device whose memory the host does not see, as a discrete GPU's: what they cost beside their kernels, and
// that they compute the same.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "backends/cpu/cpu_executor.h"
#include "backends/vulkan/backend.h"
#include "core/base/error.h"
#include "core/graph/evaluate.h"
#include "core/lowering/lower.h"
#include "hal/run/plan_runs.h"
#include "tests/testing/graph_from_text.h"

namespace hearth {
namespace {

constexpr std::string_view kNetwork = R"(graph "two inputs, two outputs"
%0 = input : float32[1x5x6x8] "x"
%1 = input : float32[1x5x6x8] "z"
%2 = add(%0, %1) activation=relu : float32[1x5x6x8] "a" node "sum" operator 0
%3 = softmax(%2) : float32[1x5x6x8] "b" node "softmax" operator 1
%4 = mul(%3, %1) : float32[1x5x6x8] "c" node "product" operator 2
output %2
output %4
)";
constexpr size_t kCount = 5 * 6 * 8;
using Floats = std::vector<float>;

// A plan of the network on a device that was opened in this way.
class Runs {
 public:
  Status Open(const VulkanPaths& paths, const std::vector<std::string>& cpu_ops) {
    for (const DeviceCandidate& candidate : EnumerateVulkan()) {
      if (!candidate.usable) continue;
      HEARTH_ASSIGN(device_, OpenVulkanWithPaths(candidate, paths));
      break;
    }
    if (device_ == nullptr) return Status(StatusCode::kUnavailable, "no usable Vulkan device");
    HEARTH_ASSIGN(graph_, GraphFromText(kNetwork));
    HEARTH_TRY(InferShapes(graph_));
    LowerOptions options{.cpu_ops = cpu_ops};
    HEARTH_ASSIGN(Plan plan, Lower(graph_, device_->info(), options));
    host_ = MakeCpuExecutor();
    HEARTH_ASSIGN(ready_,
                  MakePlanReady(std::move(plan), {.device = device_.get(), .graph = &graph_, .host = host_.get()}));
    return Status::Ok();
  }

  // The outputs, one behind the other.
  Floats Run(float first, std::vector<ProfileRow>* profile = nullptr) {
    return With(first,
                [&](auto inputs, auto outputs) { return ready_.runs->Run(inputs, outputs, {.profile = profile}); });
  }
  Floats RunInSlot(float first, size_t index) {
    const SlotId slot = {SlotKind::kInFlight, index};
    return With(first, [&](auto inputs, auto outputs) -> Status {
      HEARTH_TRY(ready_.runs->Submit(slot, inputs, outputs));
      return ready_.runs->Finish(slot, outputs);
    });
  }

  bool has_device() const { return device_ != nullptr; }
  VulkanCalls calls() const { return VulkanCallsOf(*device_); }
  ReadyPlan& ready() { return ready_; }

 private:
  template <typename Body>
  Floats With(float first, const Body& body) {
    Floats x(kCount), z(kCount), result(2 * kCount, -1.0f);
    for (size_t k = 0; k < kCount; ++k) {
      x[k] = first + static_cast<float>(k % 13);
      z[k] = first - static_cast<float>(k % 7);
    }
    const std::vector<std::span<const std::byte>> inputs = {std::as_bytes(std::span(x)), std::as_bytes(std::span(z))};
    const std::span<float> all(result);
    const std::vector<std::span<std::byte>> outputs = {std::as_writable_bytes(all.first(kCount)),
                                                       std::as_writable_bytes(all.last(kCount))};
    const Status status = body(std::span(inputs), std::span(outputs));
    EXPECT_TRUE(status.ok()) << status.message();
    return result;
  }

  std::unique_ptr<Device> device_;
  Graph graph_;
  std::unique_ptr<HostExecutor> host_;
  ReadyPlan ready_;
};

class VulkanStaging : public ::testing::Test {
 protected:
  void SetUp() override {
    const Status status = mapped_.Open({}, cpu_ops_);
    if (!mapped_.has_device()) GTEST_SKIP() << status.message();
    ASSERT_TRUE(status.ok()) << status.message();
    const Status staged = staged_.Open({.mapped_memory = false}, cpu_ops_);
    ASSERT_TRUE(staged.ok()) << staged.message();
  }

  std::vector<std::string> cpu_ops_;
  Runs mapped_, staged_;
};

class VulkanStagingWithHostSteps : public VulkanStaging {
 protected:
  VulkanStagingWithHostSteps() { cpu_ops_ = {"softmax"}; }
};

TEST_F(VulkanStaging, ARunIsOneSubmissionAndOneWaitWithoutAnAllocation) {
  staged_.Run(1);
  for (int k = 0; k < 3; ++k) {
    const VulkanCalls before = staged_.calls();
    staged_.Run(static_cast<float>(k));
    const VulkanCalls after = staged_.calls();
    EXPECT_EQ(after.allocations - before.allocations, 0u);
    EXPECT_EQ(after.submissions - before.submissions, 1u);
    EXPECT_EQ(after.waits - before.waits, 1u);
  }
}

TEST_F(VulkanStaging, ARunInFlightAllocatesNothingAndWaitsOnce) {
  staged_.RunInSlot(1, 0);
  const VulkanCalls before = staged_.calls();
  staged_.RunInSlot(2, 0);
  const VulkanCalls after = staged_.calls();
  EXPECT_EQ(after.allocations - before.allocations, 0u);
  EXPECT_EQ(after.waits - before.waits, 1u);
}

TEST_F(VulkanStaging, EveryWayToRunComputesTheSame) {
  std::vector<ProfileRow> profile;
  for (int k = 0; k < 3; ++k) {
    const auto first = static_cast<float>(k);
    const Floats expected = mapped_.Run(first);
    EXPECT_EQ(staged_.Run(first), expected);
    EXPECT_EQ(staged_.RunInSlot(first, 1), expected);
    EXPECT_EQ(staged_.Run(first, &profile), expected);
    EXPECT_EQ(profile.size(), staged_.ready().plan().dispatches.size());
    profile.clear();
  }
  EXPECT_TRUE(staged_.ready().runs->RunDispatches().ok());
  EXPECT_EQ(staged_.Run(5), mapped_.Run(5));
}

TEST_F(VulkanStaging, RunsInFlightTogetherHaveInputsOfTheirOwn) {
  const Floats one = mapped_.Run(1), two = mapped_.Run(2);
  EXPECT_EQ(staged_.RunInSlot(1, 0), one);
  EXPECT_EQ(staged_.RunInSlot(2, 1), two);
  EXPECT_EQ(staged_.RunInSlot(1, 1), one);
}

TEST_F(VulkanStaging, ItCopiesAsManyBytesAsWithoutStaging) {
  staged_.Run(1);
  mapped_.Run(1);
  EXPECT_EQ(staged_.ready().runs->transfers().to_device_bytes, mapped_.ready().runs->transfers().to_device_bytes);
  EXPECT_EQ(staged_.ready().runs->transfers().to_host_bytes, mapped_.ready().runs->transfers().to_host_bytes);
}

TEST_F(VulkanStagingWithHostSteps, TheSameIsComputed) {
  std::vector<ProfileRow> profile;
  for (int k = 0; k < 2; ++k) {
    const auto first = static_cast<float>(k);
    const Floats expected = mapped_.Run(first);
    EXPECT_EQ(staged_.Run(first), expected);
    EXPECT_EQ(staged_.RunInSlot(first, 0), expected);
    EXPECT_EQ(staged_.Run(first, &profile), expected);
  }
}

}  // namespace
}  // namespace hearth
