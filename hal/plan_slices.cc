// PlanRunner's submissions: slices, and the copies that go with them.
#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/plan/dispatch_cost.h"
#include "hal/plan_runner.h"
#include "hal/stopping.h"

namespace hearth {

void PlanRunner::AddSlices(std::span<const size_t> dispatches, std::vector<Stage>& stages) const {
  if (dispatches.empty()) return;
  for (std::vector<size_t>& slice : SlicesOf(plan_, dispatches, parts_.device->info(), slice_clock_.correction()))
    stages.emplace_back().dispatches = std::move(slice);
}

Result<Executable*> PlanRunner::ExecutableOf(Stage& stage) {
  if (stage.executable == nullptr) {
    CommandRecorder recorder;
    RecordDispatches(stage.dispatches, recorder);
    HEARTH_ASSIGN(stage.executable, parts_.device->Prepare(recorder.Finish()));
  }
  return stage.executable.get();
}

Result<std::vector<std::unique_ptr<Executable>>> PlanRunner::PrepareWhole(const std::vector<Stage>& stages) {
  std::vector<std::unique_ptr<Executable>> whole;
  const bool has_states = !std::ranges::all_of(plan_.states, &PlanState::on_device);
  if (stages.empty() || plan_.has_host_steps() || has_states) return whole;
  HEARTH_ASSIGN(const bool is_staged, runs_->StagesArena());
  if (!is_staged) return whole;
  for (const Stage& stage : stages) {
    CommandRecorder recorder;
    if (&stage == &stages.front()) runs_->RecordArenaInputs(recorder);
    RecordDispatches(stage.dispatches, recorder);
    if (&stage == &stages.back()) runs_->RecordArenaOutputs(recorder);
    HEARTH_ASSIGN(whole.emplace_back(), parts_.device->Prepare(recorder.Finish()));
  }
  return whole;
}

Status PlanRunner::PrepareExecutables(std::vector<Stage>& stages, std::vector<std::unique_ptr<Executable>>& whole) {
  HEARTH_ASSIGN(whole, PrepareWhole(stages));
  for (Stage& stage : stages) {
    if (parts_.stop.stop_requested()) return Stopped();
    if (stage.host == nullptr && whole.empty()) HEARTH_TRY(ExecutableOf(stage).status());
  }
  return Status::Ok();
}

void PlanRunner::NoteRunMs(double milliseconds) {
  // What steps on the CPU take is not known apart.
  if (parts_.device == nullptr || parts_.device->info().is_software() || plan_.has_host_steps()) return;
  std::vector<size_t> dispatches;
  double estimated_ms = 0;
  for (size_t k = 0; k < plan_.steps.size(); ++k) {
    const auto& dispatch = std::get<Dispatch>(plan_.steps[k]);
    estimated_ms += EstimatedMs(dispatch, plan_.kernels[dispatch.kernel], parts_.device->info());
    dispatches.push_back(k);
  }
  if (!slice_clock_.NoteRun(milliseconds, estimated_ms)) return;
  std::vector<Stage> stages;
  AddSlices(dispatches, stages);
  if (stages.size() == stages_.size()) return;
  std::vector<std::unique_ptr<Executable>> whole;
  if (!PrepareExecutables(stages, whole).ok()) return;  // those that are there serve on
  stages_ = std::move(stages);
  whole_ = std::move(whole);
}

}  // namespace hearth
