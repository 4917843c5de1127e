// What an inference costs on a discrete GPU beside its kernels: driver calls of the shared models on a simulated one.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/vulkan/backend.h"
#include "runtime/session/session_data.h"
#include "tests/models/golden_session.h"
#include "tests/testing/sample.h"
#include "tests/testing/shared_data.h"

namespace hearth {
namespace {

using testing::Golden;

// Models.EveryRunOnADiscreteGpu runs all.
std::vector<std::string> ModelsToRun() {
  if (testing::IsWhole()) return {std::begin(testing::kGoldenModels), std::end(testing::kGoldenModels)};
  return {"face_detection_front", "kws_ref_model_int8", "mnist_lstm_f32", "mobilenet_v1_0.25_128_quant", "vww_96_int8"};
}

VulkanCalls operator-(const VulkanCalls& a, const VulkanCalls& b) {
  return {a.allocations - b.allocations, a.submissions - b.submissions, a.waits - b.waits};
}

class VulkanRuns : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const auto manifest = SharedFolder() / "goldens" / GetParam() / "manifest.json";
    HEARTH_SKIP_WITHOUT(manifest);
    if (const Status usable = ChooseDevices("vulkan").status(); !usable.ok()) GTEST_SKIP() << usable.message();
    const Golden golden = testing::ReadGolden(SharedFolder(), manifest);
    Result<Model> model = Model::FromFile(golden.model);
    ASSERT_TRUE(model.ok()) << model.status().message();
    model_ = std::make_unique<const Model>(std::move(model).value());
    Result<Session> session = Session::Create(*model_, {.device = "vulkan", .simulate = "navi21", .use_cache = false});
    ASSERT_TRUE(session.ok()) << session.status().message();
    session_ = std::make_unique<Session>(std::move(session).value());
    for (size_t k = 0; k < golden.inputs.size(); ++k) {
      ASSERT_TRUE(session_->SetInput(k, golden.inputs[k].bytes).ok());
    }
  }

  // Of one run.
  VulkanCalls CallsOfARun() {
    const Device& device = *SessionData::Of(*session_)->context->prepared().request.device->opened.device;
    const VulkanCalls before = VulkanCallsOf(device);
    const Status ran = session_->Run();
    EXPECT_TRUE(ran.ok()) << ran.message();
    return VulkanCallsOf(device) - before;
  }

  std::unique_ptr<const Model> model_;
  std::unique_ptr<Session> session_;
};

// No shared model is too long for one submission, nor does any need the CPU, which would take a wait for each step
// there. A run of style_transfer takes 6 s on two free cores and 30 on busy ones, so there are no more runs than tell
// something: a simulated device's times correct no estimate of a slice, so later runs are as these.
TEST_P(VulkanRuns, AllocateNothingSubmitOnceAndWaitOnceAfterTheFirst) {
  ASSERT_FALSE(SessionData::Of(*session_)->context->plan().runs_on_cpu());
  CallsOfARun();
  for (int run = 2; run <= 3; ++run) {
    const VulkanCalls calls = CallsOfARun();
    EXPECT_EQ(calls.allocations, 0u) << "run " << run;
    EXPECT_EQ(calls.submissions, 1u) << "run " << run;
    EXPECT_EQ(calls.waits, 1u) << "run " << run;
  }
}

INSTANTIATE_TEST_SUITE_P(SharedModels, VulkanRuns, ::testing::ValuesIn(ModelsToRun()), [](const auto& info) {
  std::string name = info.param;
  std::ranges::replace(name, '.', '_');
  return name;
});

}  // namespace
}  // namespace hearth
