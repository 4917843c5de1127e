// The submissions of PlanRunner: slices, and the copies that go with them.
#include <algorithm>
#include <utility>

#include "core/base/contains.h"
#include "core/base/error.h"
#include "core/emit/first_group.h"
#include "core/plan/dispatch_cost.h"
#include "hal/plan_runner.h"
#include "hal/stopping.h"
#include "hal/stopwatch.h"

namespace hearth {
namespace {

constexpr double kLittleMs = 1;  // next to the limit of a slice

}  // namespace

void PlanRunner::AddSlices(std::span<const size_t> dispatches, std::vector<Stage>& stages) const {
  if (dispatches.empty()) return;
  const DeviceInfo& info = parts_.device->info();
  const std::optional<double> limit_ms = parts_.slice_limit_ms ? parts_.slice_limit_ms : SliceLimitMs(info);
  for (std::vector<DispatchPart>& slice : SlicesOf(plan_, dispatches, info, limit_ms, slice_clock_.correction()))
    stages.emplace_back().dispatches = std::move(slice);
}

Status PlanRunner::LoadPartPrograms(const std::vector<Stage>& stages) {
  std::vector<uint32_t> kernels;
  for (const Stage& stage : stages) {
    for (const DispatchPart& part : stage.dispatches) {
      const uint32_t kernel = part.is_whole ? 0 : std::get<Dispatch>(plan_.steps[part.step]).kernel;
      const bool is_missing = !part.is_whole && !part_program_.contains(kernel);
      if (is_missing && !Contains(kernels, kernel)) kernels.push_back(kernel);
    }
  }
  if (kernels.empty()) return Status::Ok();
  const Stopwatch watch;
  std::vector<KernelSource> sources;
  for (const uint32_t kernel : kernels) sources.push_back(WithFirstGroup(plan_.kernels[kernel]));
  // Other threads may be using the held programs while this plan runs.
  HeldPrograms* const held = is_ready_ ? nullptr : parts_.held_programs;
  HEARTH_ASSIGN(LoadedPrograms loaded,
                LoadOrCompile(*parts_.device, sources, parts_.store, parts_.CompileThreads(), parts_.stop, held));
  for (size_t k = 0; k < kernels.size(); ++k) part_program_[kernels[k]] = loaded.by_kernel[k];
  programs_.loaded_keys.insert(programs_.loaded_keys.end(), loaded.loaded_keys.begin(), loaded.loaded_keys.end());
  part_programs_.push_back(std::move(loaded));
  times_.programs_ms += watch.milliseconds();
  return Status::Ok();
}

int PlanRunner::more_programs_compiled() const {
  int compiled = runs_ != nullptr ? runs_->programs_compiled() : 0;
  for (const LoadedPrograms& programs : part_programs_) compiled += programs.compiled;
  return compiled;
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
  HEARTH_TRY(LoadPartPrograms(stages));
  HEARTH_ASSIGN(whole, PrepareWhole(stages));
  for (Stage& stage : stages) {
    if (parts_.stop.stop_requested()) return Stopped();
    if (stage.host == nullptr && whole.empty()) HEARTH_TRY(ExecutableOf(stage).status());
  }
  return Status::Ok();
}

Status PlanRunner::RenewWhole() {
  if (!whole_is_stale_) return Status::Ok();
  whole_.clear();  // released before the memory that it uses
  HEARTH_ASSIGN(whole_, PrepareWhole(stages_));
  whole_is_stale_ = false;
  return Status::Ok();
}

std::vector<PlanRunner::Stage> PlanRunner::CutStages() const {
  std::vector<Stage> stages;
  std::vector<size_t> dispatches;
  for (size_t k = 0; k < plan_.steps.size(); ++k) {
    if (const auto* host = std::get_if<HostStep>(&plan_.steps[k])) {
      AddSlices(std::exchange(dispatches, {}), stages);
      stages.emplace_back().host = host;
    } else {
      dispatches.push_back(k);
    }
  }
  AddSlices(dispatches, stages);
  return stages;
}

void PlanRunner::NoteRunMs(double milliseconds) {
  // A software driver's times say nothing about the device that it simulates.
  const bool has_slices =
      parts_.device != nullptr && !parts_.device->info().is_software() && parts_.device->info().simulates.empty();
  if (!has_slices) return;
  if (is_saved_) {
    // Stores programs that an earlier call loaded and that have run by now.
    for (LoadedPrograms& programs : part_programs_) StoreFreshPrograms(programs, *parts_.store, parts_.stop);
  }
  double estimated_ms = 0;
  for (const Step& step : plan_.steps) {
    const auto* dispatch = std::get_if<Dispatch>(&step);
    if (dispatch == nullptr) continue;
    estimated_ms += EstimatedMs(*dispatch, plan_.kernels[dispatch->kernel], parts_.device->info());
  }
  if (!slice_clock_.NoteRun(milliseconds, estimated_ms)) return;
  std::vector<Stage> stages = CutStages();
  if (stages.size() == stages_.size()) return;
  std::vector<std::unique_ptr<Executable>> whole;
  if (whole_is_stale_) whole_.clear();                  // released before the memory that it uses
  if (!PrepareExecutables(stages, whole).ok()) return;  // the old executables stay in use
  // The last run's submissions, which belong to the old executables, are over.
  if (!WaitForSubmitted().ok()) return;
  for (Stage& stage : stages) {
    if (stage.host != nullptr) stage.program = std::move(std::ranges::find(stages_, stage.host, &Stage::host)->program);
  }
  stages_ = std::move(stages);
  whole_ = std::move(whole);
}

void PlanRunner::NoteTimedRun(size_t slot, double finish_ms) {
  if (!timed_run_ || timed_run_->slot != slot) return;
  const TimedRun run = *std::exchange(timed_run_, std::nullopt);
  const double all_ms = run.watch.milliseconds();
  // A run that its caller left alone for longer than Finish took may have ended long before.
  const double alone_ms = all_ms - run.submit_ms - finish_ms;
  if (slot != kArenaSlot && alone_ms > std::max(finish_ms, kLittleMs)) return;
  NoteRunMs(all_ms - run.host_ms);
}

}  // namespace hearth
