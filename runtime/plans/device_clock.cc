// Times layers on a real device.
#include <algorithm>

#include "core/base/error.h"
#include "hal/device/stopping.h"
#include "hal/device/stopwatch.h"
#include "hal/programs/load_or_compile.h"
#include "hal/run/plan_runs.h"
#include "runtime/plans/tuner.h"

namespace hearth {
namespace {

class DeviceLayer final : public TimedLayer {
 public:
  DeviceLayer(ReadyPlan plan, const std::stop_token& stop) : plan_(std::move(plan)), stop_(stop) {}

  // Fills the inputs with zeros: fresh buffers may hold denormal numbers, which are slow.
  Status FillInputs() {
    std::vector<std::vector<std::byte>> memory;
    std::vector<std::span<const std::byte>> inputs;
    std::vector<std::span<std::byte>> outputs;
    const Plan& plan = plan_.plan();
    memory.reserve(plan.inputs.size() + plan.outputs.size());
    for (const PlanTensor& input : plan.inputs) inputs.emplace_back(memory.emplace_back(input.desc.size_bytes()));
    for (const PlanTensor& output : plan.outputs) outputs.emplace_back(memory.emplace_back(output.desc.size_bytes()));
    return plan_.runs->Run(inputs, outputs);
  }

  Result<double> RunMs() override {
    if (stop_.stop_requested()) return Stopped();
    const Stopwatch watch;
    HEARTH_TRY(plan_.runs->RunDispatches());
    return watch.milliseconds();
  }

 private:
  ReadyPlan plan_;
  std::stop_token stop_;
};

class DeviceClock final : public LayerClock {
 public:
  DeviceClock(Device& device, int threads, const std::stop_token& stop)
      : device_(device), threads_(threads), stop_(stop) {}

  void Announce(std::span<const KernelSource> kernels) override {
    Result<LoadedPrograms> compiled = LoadOrCompile(device_, kernels, nullptr, threads_, stop_);
    if (compiled.ok()) batches_.push_back(std::move(compiled).value());  // else each is compiled on use
  }

  Result<std::unique_ptr<TimedLayer>> Prepare(Plan plan) override {
    if (stop_.stop_requested()) return Stopped();
    LoadRequest request{.device = &device_, .stop = stop_};
    for (const KernelSource& kernel : plan.kernels) {
      HEARTH_ASSIGN(Program * program, ProgramOf(kernel));
      request.programs.push_back(program);
    }
    HEARTH_ASSIGN(ReadyPlan ready, MakePlanReady(std::move(plan), std::move(request)));
    auto layer = std::make_unique<DeviceLayer>(std::move(ready), stop_);
    HEARTH_TRY(layer->FillInputs());
    return std::unique_ptr<TimedLayer>(std::move(layer));
  }

 private:
  Result<Program*> ProgramOf(const KernelSource& kernel) {
    for (const LoadedPrograms& batch : batches_) {
      for (Program* program : batch.by_kernel) {
        if (program->source() == kernel) return program;
      }
    }
    HEARTH_ASSIGN(LoadedPrograms compiled, LoadOrCompile(device_, {&kernel, 1}, nullptr, 1));
    batches_.push_back(std::move(compiled));
    return batches_.back().by_kernel.front();
  }

  Device& device_;
  int threads_;
  std::stop_token stop_;
  std::vector<LoadedPrograms> batches_;
};

}  // namespace

std::unique_ptr<LayerClock> MakeDeviceClock(Device& device, int threads, const std::stop_token& stop) {
  return std::make_unique<DeviceClock>(device, threads, stop);
}

}  // namespace hearth
