// The runs of PlanRunner.
#include <algorithm>

#include "core/base/error.h"
#include "hal/plan_runner.h"
#include "hal/stopwatch.h"

namespace hearth {

Status PlanRunner::BindInput(size_t index, const Binding& binding) {
  HEARTH_CHECK(index < plan_.inputs.size());
  const PlanTensor& input = plan_.inputs[index];
  if (binding.memory == MemoryKind::kHost)
    return runs_ != nullptr && input.on_device ? runs_->BindInput(index, binding) : Status::Ok();
  if (runs_ == nullptr || !input.on_device || host_inputs_.contains(input.transfer.value)) {
    return Error(StatusCode::kUnsupported, "input '{}' is read by the CPU, which takes host memory", input.name);
  }
  return runs_->BindInput(index, binding);
}

Status PlanRunner::BindOutput(size_t index, const Binding& binding) {
  HEARTH_CHECK(index < plan_.outputs.size());
  const PlanTensor& output = plan_.outputs[index];
  if (binding.memory == MemoryKind::kHost)
    return runs_ != nullptr && output.on_device ? runs_->BindOutput(index, binding) : Status::Ok();
  if (runs_ == nullptr || !output.on_device) {
    return Error(StatusCode::kUnsupported, "output '{}' is made by the CPU, which takes host memory", output.name);
  }
  return runs_->BindOutput(index, binding);
}

Status PlanRunner::BindFrame(size_t index, const Frame& frame) {
  HEARTH_CHECK(index < plan_.inputs.size());
  const PlanTensor& input = plan_.inputs[index];
  if (runs_ == nullptr || !input.on_device || host_inputs_.contains(input.transfer.value)) {
    return Error(StatusCode::kUnsupported, "the CPU reads this input, and takes frames in host memory");
  }
  return runs_->BindFrame(index, frame);
}

Result<bool> PlanRunner::SetFrame(size_t index, const Frame* frame) {
  HEARTH_CHECK(index < plan_.inputs.size());
  const PlanTensor& input = plan_.inputs[index];
  if (runs_ == nullptr || !input.on_device || host_inputs_.contains(input.transfer.value)) return false;
  const Result<bool> changed = runs_->SetFrame(index, frame);
  if (changed.ok()) {
    whole_is_stale_ = whole_is_stale_ || *changed;
    return true;
  }
  HEARTH_ASSIGN(const bool ends, runs_->SetFrame(index, nullptr));
  whole_is_stale_ = whole_is_stale_ || ends;
  return changed.status();
}

Status PlanRunner::WaitForSubmitted() {
  if (last_submitted_ == nullptr) return Status::Ok();
  // The last one is waited for first. Waits for the others then return at once, with their own errors.
  Executable& executable = *std::exchange(last_submitted_, nullptr);
  const Status of_last = executable.Wait(last_submission_);
  for (const uint64_t number : submissions_) {
    if (number != last_submission_) HEARTH_TRY(executable.Wait(number));
  }
  return of_last;
}

Status PlanRunner::Hand(Executable& executable) {
  HEARTH_ASSIGN(last_submission_, executable.Submit());
  submissions_.push_back(last_submission_);
  last_submitted_ = &executable;
  return Status::Ok();
}

Status PlanRunner::SubmitStages(std::span<const std::span<const std::byte>> inputs,
                                std::span<const std::span<std::byte>> outputs, std::vector<ProfileRow>* profile,
                                TransferCounts& counts) {
  for (Stage& stage : stages_) {
    if (stage.host != nullptr || profile != nullptr) {
      // A host step reads what was submitted before, and overwrites memory that submitted work may still read.
      HEARTH_TRY(WaitForSubmitted());
      const Stopwatch watch;
      HEARTH_TRY(stage.host != nullptr ? RunHost(stage, inputs, outputs, profile, counts)
                                       : ProfileDispatches(stage, *profile));
      if (timed_run_) timed_run_->host_ms += watch.milliseconds();
      continue;
    }
    HEARTH_ASSIGN(Executable * executable, ExecutableOf(stage));
    HEARTH_TRY(Hand(*executable));
  }
  const bool has_host_states =
      std::any_of(plan_.states.begin(), plan_.states.end(), [](const PlanState& state) { return !state.on_device; });
  if (!has_host_states) return Status::Ok();
  HEARTH_TRY(WaitForSubmitted());
  return AdvanceHostStates(counts);
}

Status PlanRunner::CopyHostOutputs(std::span<const std::span<const std::byte>> inputs,
                                   std::span<const std::span<std::byte>> outputs) const {
  // Inputs that are also outputs go first, because the other outputs may overwrite their memory.
  for (const bool is_made : {false, true}) {
    for (size_t k = 0; k < outputs.size(); ++k) {
      const ValueId value = plan_.outputs[k].transfer.value;
      if (plan_.outputs[k].on_device || host_outputs_.contains(value)) continue;
      if (host_values_.contains(value) != is_made) continue;
      const std::span<const std::byte> bytes = HostOutput(value, inputs);
      if (bytes.size() != outputs[k].size())
        return Error(StatusCode::kInternal, "no step of the plan makes output '{}'", plan_.outputs[k].name);
      std::copy(bytes.begin(), bytes.end(), outputs[k].begin());
    }
  }
  return Status::Ok();
}

std::span<std::byte> PlanRunner::LentOutput(size_t index) const {
  HEARTH_CHECK(index < plan_.outputs.size());
  const ValueId value = plan_.outputs[index].transfer.value;
  return host_outputs_.contains(value) ? stages_.back().program->LentOutput(value) : std::span<std::byte>();
}

std::span<const std::byte> PlanRunner::HostOutput(ValueId value,
                                                  std::span<const std::span<const std::byte>> inputs) const {
  const auto host = host_values_.find(value);
  if (host != host_values_.end()) return host->second;
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (plan_.inputs[k].transfer.value == value) return inputs[k];
  }
  const bool is_constant = parts_.graph != nullptr && value >= 0 &&
                           static_cast<size_t>(value) < parts_.graph->values().size() &&
                           parts_.graph->IsConstant(value);
  return is_constant ? parts_.graph->ConstantBytes(value) : std::span<const std::byte>();
}

Status PlanRunner::SubmitInSlot(size_t slot, std::span<const std::span<const std::byte>> inputs,
                                std::span<const std::span<std::byte>> outputs, const SubmitSync& sync,
                                std::vector<ProfileRow>* profile) {
  if (slot == kArenaSlot) {
    HEARTH_TRY(WaitForSubmitted());
    HEARTH_TRY(RenewWhole());
  }
  const bool is_whole = slot == kArenaSlot && !whole_.empty() && profile == nullptr;
  HEARTH_TRY(runs_->Begin(slot, inputs, sync.wait_for, is_whole));
  if (profile != nullptr || plan_.has_host_steps()) HEARTH_TRY(runs_->WaitForBegin(slot));
  submissions_.clear();
  if (!is_whole) HEARTH_TRY(SubmitStages(inputs, outputs, profile, runs_->transfers(slot)));
  for (size_t k = 0; is_whole && k < whole_.size(); ++k) HEARTH_TRY(Hand(*whole_[k]));
  HEARTH_TRY(CopyHostOutputs(inputs, outputs));
  return runs_->End(slot, sync.signal, sync.fence);
}

Status PlanRunner::Submit(size_t slot, std::span<const std::span<const std::byte>> inputs,
                          std::span<const std::span<std::byte>> outputs, const SubmitSync& sync,
                          std::vector<ProfileRow>* profile) {
  HEARTH_TRY(CheckSizes(inputs, outputs));
  if (runs_ == nullptr) {
    if (!sync.wait_for.empty() || !sync.signal.empty() || sync.fence != nullptr)
      return Error(StatusCode::kUnsupported, "the CPU has no fences to wait for or to signal");
    HEARTH_TRY(SubmitStages(inputs, outputs, profile, transfers_));
    return CopyHostOutputs(inputs, outputs);
  }
  timed_run_.reset();
  if (runs_in_flight_ == 0 && profile == nullptr && sync.wait_for.empty()) timed_run_.emplace().slot = slot;
  const Status status = SubmitInSlot(slot, inputs, outputs, sync, profile);
  if (!status.ok()) {
    timed_run_.reset();
    runs_->Abandon(slot);
    return status;
  }
  ++runs_in_flight_;
  if (timed_run_) timed_run_->submit_ms = timed_run_->watch.milliseconds();
  return Status::Ok();
}

Status PlanRunner::Finish(size_t slot, std::span<const std::span<std::byte>> outputs) {
  if (runs_ == nullptr) return Status::Ok();
  const Stopwatch watch;
  runs_in_flight_ = std::max(0, runs_in_flight_ - 1);
  const Status submitted = slot == kArenaSlot ? WaitForSubmitted() : Status::Ok();
  if (!submitted.ok()) {
    runs_->Abandon(slot);
    return submitted;
  }
  const Status status = runs_->Finish(slot, outputs);
  transfers_ = runs_->transfers(slot);
  if (status.ok()) NoteTimedRun(slot, watch.milliseconds());
  return status;
}

Status PlanRunner::Run(std::span<const std::span<const std::byte>> inputs,
                       std::span<const std::span<std::byte>> outputs, std::vector<ProfileRow>* profile) {
  HEARTH_TRY(Submit(kArenaSlot, inputs, outputs, {}, profile));
  return Finish(kArenaSlot, outputs);
}

Status PlanRunner::RunStages() {
  submissions_.clear();
  TransferCounts not_of_a_run;
  std::vector<std::vector<std::byte>> zeros(plan_.inputs.size());
  for (const auto& [value, index] : host_inputs_) zeros[index].resize(plan_.inputs[index].desc.size_bytes());
  const std::vector<std::span<const std::byte>> inputs(zeros.begin(), zeros.end());
  std::vector<std::vector<std::byte>> unused(plan_.outputs.size());
  for (const auto& [value, index] : host_outputs_) unused[index].resize(plan_.outputs[index].desc.size_bytes());
  const std::vector<std::span<std::byte>> outputs(unused.begin(), unused.end());
  HEARTH_TRY(SubmitStages(inputs, outputs, nullptr, not_of_a_run));
  return WaitForSubmitted();
}

}  // namespace hearth
