#include "hal/run/run_slots.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"

namespace hearth {
namespace {

// The last one is waited for first. Waits for the others then return at once, each with its own error.
Status WaitForEach(Executable& executable, uint64_t first, uint64_t last) {
  Status of_last = executable.Wait(last);
  for (uint64_t number = first; number < last; ++number) HEARTH_TRY(executable.Wait(number));
  return of_last;
}

bool IsStaged(const Crossings& crossings) {
  return std::ranges::any_of(crossings, [](const Crossing& crossing) { return crossing.memory != nullptr; });
}

}  // namespace

void RunSlots::Apply(PlanEdges::Change change) {
  for (std::unique_ptr<Buffer>& buffer : change.retired) retired_.push_back(std::move(buffer));
  if (change.in_flight) {
    for (Slot& slot : slots_) slot.is_stale = true;
  }
  if (change.alone) {
    alone_.moving_inputs.reset();
    alone_.moving_outputs.reset();
    alone_.is_ready = false;
  }
  DropStale();
}

void RunSlots::DropStale() {
  bool any_in_use = false;
  for (Slot& slot : slots_) {
    if (!slot.is_stale) continue;
    if (slot.is_busy) {
      any_in_use = true;
      continue;
    }
    slot.moving_inputs.reset();
    slot.moving_outputs.reset();
    slot.inputs.clear();
    slot.outputs.clear();
    slot.is_ready = slot.is_stale = false;
  }
  if (!any_in_use) retired_.clear();
}

Status RunSlots::Prepare(SlotKind kind, Slot& slot) {
  if (slot.is_ready) return Status::Ok();
  HEARTH_ASSIGN(slot.inputs, edges_.Prepare(Side::kInput, kind));
  HEARTH_ASSIGN(slot.outputs, edges_.Prepare(Side::kOutput, kind));
  slot.is_ready = true;
  return Status::Ok();
}

Status RunSlots::PrepareMoves(Slot& slot) {
  if (slot.moving_inputs != nullptr && slot.moving_outputs != nullptr) return Status::Ok();
  CommandRecorder recorder;
  edges_.Record(Side::kInput, slot.inputs, recorder);
  HEARTH_ASSIGN(slot.moving_inputs, device_.Prepare(recorder.Finish()));
  edges_.Record(Side::kOutput, slot.outputs, recorder);
  HEARTH_ASSIGN(slot.moving_outputs, device_.Prepare(recorder.Finish()));
  return Status::Ok();
}

Result<bool> RunSlots::StagesAlone() {
  HEARTH_TRY(Prepare(SlotKind::kAlone, alone_));
  return IsStaged(alone_.inputs) || IsStaged(alone_.outputs);
}

void RunSlots::RecordAlone(Side side, CommandRecorder& recorder) const {
  edges_.Record(side, side == Side::kInput ? alone_.inputs : alone_.outputs, recorder);
}

Status RunSlots::Begin(SlotId id, std::span<const std::span<const std::byte>> inputs,
                       std::span<const SyncPoint> wait_for, bool plan_copies) {
  const bool is_alone = id.kind == SlotKind::kAlone;
  if (!is_alone && id.index >= slots_.size()) slots_.resize(id.index + 1);
  Slot& slot = At(id);
  HEARTH_CHECK(!slot.is_busy);
  for (Slot& other : slots_) {
    // Its own Finish reports how it ended.
    if (is_alone && other.is_busy) static_cast<void>(Settle(other));
  }
  HEARTH_TRY(Prepare(id.kind, slot));
  slot.moves = !plan_copies && (!is_alone || IsStaged(slot.inputs) || IsStaged(slot.outputs));
  if (slot.moves) HEARTH_TRY(PrepareMoves(slot));
  slot.programs = programs_.size();
  slot.transfers = {};
  slot.settled.reset();
  slot.is_busy = true;
  HEARTH_TRY(edges_.Upload(slot.inputs, inputs, slot.transfers));
  if (!slot.moves) return Status::Ok();
  HEARTH_ASSIGN(slot.input_submission, slot.moving_inputs->Submit({.wait_for = wait_for}));
  return Status::Ok();
}

Status RunSlots::WaitForBegin(SlotId id) {
  const Slot& slot = At(id);
  return slot.moves ? slot.moving_inputs->Wait(slot.input_submission) : Status::Ok();
}

Status RunSlots::End(SlotId id, std::span<const SyncPoint> signal, uint64_t* fence) {
  Slot& slot = At(id);
  if (!slot.moves) return Status::Ok();
  HEARTH_ASSIGN(slot.output_submission, slot.moving_outputs->Submit({.signal = signal, .fence = fence}));
  return Status::Ok();
}

Status RunSlots::Settle(Slot& slot) {
  if (!slot.settled) {
    slot.settled =
        slot.moves ? WaitForEach(*slot.moving_outputs, slot.input_submission, slot.output_submission) : Status::Ok();
  }
  return *slot.settled;
}

Status RunSlots::Finish(SlotId id, std::span<const std::span<std::byte>> outputs) {
  Slot& slot = At(id);
  Status status = Settle(slot);
  if (status.ok()) status = edges_.Download(slot.outputs, outputs, slot.transfers);
  if (status.ok()) programs_.NoteRun(slot.programs);
  slot.is_busy = false;
  DropStale();
  return status;
}

void RunSlots::Abandon(SlotId id) {
  if (id.kind == SlotKind::kInFlight && id.index >= slots_.size()) return;
  Slot& slot = At(id);
  // The executables' destructors wait for their submissions.
  slot.moving_inputs.reset();
  slot.moving_outputs.reset();
  slot.is_busy = false;
  DropStale();
}

}  // namespace hearth
