// The Nth call to the driver fails, N = 1, 2, ... until nothing fails any more: an error with the driver's message or a
// result, never a crash, and the next start is a sound one.
#include "backends/cpu/cpu_executor.h"
#include "backends/null/device.h"
#include "cache/desk/reports.h"
#include "hal/run/plan_runs.h"
#include "hearth/model.h"
#include "runtime/devices/read_path_probe.h"
#include "runtime/model/model_data.h"
#include "runtime/plans/plan_cache.h"
#include "tests/testing/cache_folder.h"
#include "tests/testing/failing_device.h"
#include "tests/testing/sample.h"
#include "tests/testing/shared_data.h"

namespace hearth {
namespace {

using testing::CacheFolder;
using testing::CallFault;
using testing::FailingDevice;

struct Start {
  Status status;
  int compiled = 0;
};

// A whole session on `device`: plan, programs, weights, one run, saving.
Start StartOnce(const Model& model, Device& device, ResultCache& store) {
  Start start;
  const auto body = [&]() -> Status {
    const ModelData& data = model.data();
    KnownReadPath().Probe(device, device.info(), store);
    LowerOptions options{.read_path = KnownReadPath().LookUp(device.info(), store)};
    const PlanRequest request{&data.graph, data.fingerprint(), &device.info(), options};
    HEARTH_ASSIGN(MadePlan made, MakePlan(request, &store));
    const std::unique_ptr<HostExecutor> host = MakeCpuExecutor();
    HEARTH_ASSIGN(const ReadyPlan ready, MakePlanReady(std::move(made.plan), {.device = &device,
                                                                              .graph = made.lowered_graph.get(),
                                                                              .model_files = {data.bytes},
                                                                              .host = host.get(),
                                                                              .store = &store,
                                                                              .threads = 2}));
    start.compiled = ready.loaded->programs().compiled;
    std::vector<std::vector<std::byte>> inputs, outputs;
    for (const TensorInfo& input : model.inputs()) inputs.emplace_back(input.size_bytes);
    for (const TensorInfo& output : model.outputs()) outputs.emplace_back(output.size_bytes);
    const std::vector<std::span<const std::byte>> in(inputs.begin(), inputs.end());
    const std::vector<std::span<std::byte>> out(outputs.begin(), outputs.end());
    constexpr SlotId kSlot = {SlotKind::kInFlight, 0};
    HEARTH_TRY(ready.runs->Run(in, out));
    HEARTH_TRY(ready.runs->Submit(kSlot, in, out));
    HEARTH_TRY(ready.runs->Finish(kSlot, out));
    ready.runs->Store(true);
    if (made.is_new) StorePlan(request, ready.plan(), 1, store);
    return Status::Ok();
  };
  start.status = body();
  return start;
}

class DriverFaultAtStart : public ::testing::TestWithParam<bool> {};

TEST_P(DriverFaultAtStart, WhicheverCallFailsItIsAnErrorOrAResultAndTheNextStartIsRight) {
  const bool is_warm = GetParam();
  const auto model = Model::FromFile((SourceFolder() / "tools/demo/shapes_f32.tflite").string());
  ASSERT_TRUE(model.ok()) << model.status().message();
  NullDevice null_device(NullDeviceInfo());
  CallFault fault;
  FailingDevice device(null_device, fault);
  for (const StatusCode code : {StatusCode::kDeviceLost, StatusCode::kResourceExhausted, StatusCode::kInternal}) {
    int n = 1, tried = 0, errors = 0;
    for (bool has_failed = true; has_failed; ++n) {
      ASSERT_LT(n, 1000) << "it never ends";
      if (!testing::IsInSanitizersSample(static_cast<size_t>(n) + static_cast<size_t>(code), 5)) continue;
      ++tried;
      const CacheFolder folder;
      if (is_warm) {
        ASSERT_TRUE(StartOnce(*model, device, *folder.Open()).status.ok());
      }
      fault.Arm(n, Status(code, "the driver is out of sorts"));
      const Start start = StartOnce(*model, device, *folder.Open());
      has_failed = fault.Disarm();
      errors += !start.status.ok();
      if (!start.status.ok()) {
        EXPECT_NE(start.status.message().find("out of sorts"), std::string::npos) << start.status.message();
      }
      // Another start in the same folder mends what is missing, and the one after it finds all.
      ASSERT_TRUE(StartOnce(*model, device, *folder.Open()).status.ok()) << n;
      const Start last = StartOnce(*model, device, *folder.Open());
      ASSERT_TRUE(last.status.ok()) << n;
      EXPECT_EQ(last.compiled, 0) << n;
      ASSERT_TRUE(VerifyStore(folder.path(), false)->clean()) << n;
    }
    EXPECT_GT(errors, tried / 4);
    EXPECT_LT(errors, tried) << "a refused binary or a failed probe is not an error of the run";
  }
}

INSTANTIATE_TEST_SUITE_P(Starts, DriverFaultAtStart, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Warm" : "Cold"; });

}  // namespace
}  // namespace hearth
