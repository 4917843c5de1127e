// A dispatch that alone would last too long runs in parts: the same bits, wherever the cuts are.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "backends/cpu/cpu_executor.h"
#include "backends/null/device.h"
#include "conformance/conformance_case.h"
#include "core/base/error.h"
#include "core/emit/kernel_library.h"
#include "core/graph/evaluate.h"
#include "core/lowering/lower.h"
#include "hal/run/plan_runs.h"
#include "hal/run/watchdog_slices.h"
#include "runtime/devices/device_choice.h"
#include "tests/testing/memory_store.h"
#include "tests/testing/on_device.h"

namespace hearth {
namespace {

using conformance::CaseBatch;
using conformance::ConformanceCase;

constexpr double kTinyMs = 1e-9;  // each dispatch is over it

// One of each kind of kernel: tiles, rows, reductions in local memory, images in blocks, steps of a recurrence.
constexpr std::string_view kCases[] = {"conv_2d/",      "depthwise_conv_2d/", "fully_connected/",
                                       "batch_matmul/", "softmax/",           "mean/",
                                       "add/",          "transpose/",         "lstm/",
                                       "pad/"};

// Of each of these operations the first case, side by side in one graph.
Result<CaseBatch> Batch() {
  CaseBatch batch;
  const std::vector<ConformanceCase> cases = conformance::AllCases();
  for (const std::string_view prefix : kCases) {
    const auto found = std::ranges::find_if(cases, [&](const auto& test) { return test.id().starts_with(prefix); });
    if (found == cases.end()) return Error(StatusCode::kInternal, "no case {}", prefix);
    const std::string id = found->id();
    conformance::CaseGraph graph(batch, id, StorageType::kFloat32);
    batch.graph.outputs.push_back(found->build(graph));
  }
  HEARTH_TRY(InferShapes(batch.graph));
  return batch;
}

class DispatchedParts {
 public:
  Status Open(Device& device) {
    device_ = &device;
    HEARTH_ASSIGN(batch_, Batch());
    HEARTH_ASSIGN(plan_, Lower(batch_.graph, device.info(), {}));
    return Status::Ok();
  }

  Result<ReadyPlan> Ready(std::optional<double> limit_ms, ResultCache* store = nullptr) {
    return MakePlanReady(plan_, {.device = device_,
                                 .graph = &batch_.graph,
                                 .host = host_.get(),
                                 .store = store,
                                 .threads = 2,
                                 .slice_limit_ms = limit_ms});
  }

  Result<std::vector<std::vector<std::byte>>> Run(PlanRuns& runs, std::vector<ProfileRow>* profile = nullptr) {
    std::vector<std::vector<std::byte>> inputs, outputs;
    for (size_t k = 0; k < batch_.inputs.size(); ++k) {
      const TensorDesc& desc = batch_.graph.value(batch_.graph.inputs[k]).desc;
      inputs.emplace_back(desc.size_bytes());
      HEARTH_TRY(ReferenceToBytes(batch_.inputs[k], desc, inputs.back()));
    }
    for (const ValueId output : batch_.graph.outputs)
      outputs.emplace_back(batch_.graph.value(output).desc.size_bytes());
    const std::vector<std::span<const std::byte>> in(inputs.begin(), inputs.end());
    const std::vector<std::span<std::byte>> out(outputs.begin(), outputs.end());
    HEARTH_TRY(runs.Run(in, out, {.profile = profile}));
    return outputs;
  }

  const Plan& plan() const { return plan_; }

 private:
  Device* device_ = nullptr;
  CaseBatch batch_;
  Plan plan_;
  std::unique_ptr<HostExecutor> host_ = MakeCpuExecutor();
};

// The dispatches of the plan whose work groups can be shared out.
size_t DispatchesOfSeveralGroups(const Plan& plan) {
  return static_cast<size_t>(std::ranges::count_if(plan.dispatches, [](const Dispatch& dispatch) {
    return dispatch.group_count != std::array<uint32_t, 3>{1, 1, 1};
  }));
}

class DispatchParts : public testing::OnDevice {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    if (IsSkipped()) return;
    const Status status = parts_.Open(*opened_.device);
    ASSERT_TRUE(status.ok()) << status.message();
  }

  DispatchedParts parts_;
};

TEST_P(DispatchParts, ComputeTheBitsOfTheWhole) {
  ASSERT_GE(DispatchesOfSeveralGroups(parts_.plan()), std::size(kCases) / 2);
  const auto whole = parts_.Ready({}), in_parts = parts_.Ready(kTinyMs);
  ASSERT_TRUE(whole.ok()) << whole.status().message();
  ASSERT_TRUE(in_parts.ok()) << in_parts.status().message();
  EXPECT_EQ(whole->runs->more_programs().compiled(), 0);
  EXPECT_GT(in_parts->runs->more_programs().compiled(), 0);
  const auto expected = parts_.Run(*whole->runs), got = parts_.Run(*in_parts->runs);
  ASSERT_TRUE(expected.ok()) << expected.status().message();
  ASSERT_TRUE(got.ok()) << got.status().message();
  for (size_t k = 0; k < expected->size(); ++k) EXPECT_TRUE((*expected)[k] == (*got)[k]) << kCases[k];
}

TEST_P(DispatchParts, OfAProfiledRunAreOneRowOfEachDispatch) {
  const auto ready = parts_.Ready(kTinyMs);
  ASSERT_TRUE(ready.ok()) << ready.status().message();
  std::vector<ProfileRow> rows;
  const auto ran = parts_.Run(*ready->runs, &rows);
  ASSERT_TRUE(ran.ok()) << ran.status().message();
  std::erase_if(rows, [](const ProfileRow& row) { return row.kernel.starts_with("cpu "); });
  EXPECT_EQ(rows.size(), parts_.plan().dispatches.size());
}

INSTANTIATE_TEST_SUITE_P(OnEachDriver, DispatchParts, ::testing::Values("opencl", "vulkan", "gles"),
                         [](const auto& device) { return std::string(device.param); });

TEST(DispatchPartsOfANullDevice, AreCachedProgramsASubmissionEach) {
  NullDevice device(NullDeviceInfo());
  DispatchedParts parts;
  const Status status = parts.Open(device);
  ASSERT_TRUE(status.ok()) << status.message();
  testing::MemoryStore store;
  for (const bool is_cold : {true, false}) {
    const auto ready = parts.Ready(kTinyMs, &store);
    ASSERT_TRUE(ready.ok()) << ready.status().message();
    EXPECT_EQ(ready->runs->more_programs().compiled() > 0, is_cold);
    const uint64_t before = device.counts().submissions;
    const int64_t dispatches_before = device.counts().dispatches_run;
    ASSERT_TRUE(parts.Run(*ready->runs).ok());
    EXPECT_EQ(device.counts().submissions - before,
              static_cast<uint64_t>(device.counts().dispatches_run - dispatches_before));
    EXPECT_GT(device.counts().submissions - before, parts.plan().dispatches.size());
    ready->runs->Store(is_cold);
  }
}

TEST(WithFirstGroup, CountsFromElsewhereInEveryKernel) {
  for (const std::string& name : KernelNames()) {
    const KernelSource kernel = LoadKernel(name).value();
    const KernelSource moved = WithFirstGroup(kernel);
    EXPECT_EQ(moved.scalars.size(), kernel.scalars.size() + 3);
    EXPECT_NE(Emit(moved, Dialect::kVulkan), Emit(kernel, Dialect::kVulkan)) << name;
  }
}

}  // namespace
}  // namespace hearth
