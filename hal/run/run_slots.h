// Runs of a plan that may be in flight together. Each has a slot with its own memory for inputs and outputs, which
// commands before and after those of the plan copy to and from the arena (plan_edges.h).
#ifndef HEARTH_HAL_RUN_RUN_SLOTS_H_
#define HEARTH_HAL_RUN_RUN_SLOTS_H_

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "hal/device/device.h"
#include "hal/io/transfers.h"
#include "hal/programs/more_programs.h"
#include "hal/run/plan_edges.h"

namespace hearth {

// The slot of a run that is alone, or one of those of runs in flight.
struct SlotId {
  SlotKind kind = SlotKind::kAlone;
  size_t index = 0;
  friend bool operator==(const SlotId&, const SlotId&) = default;
};

// For one thread at a time. Its arguments must outlive it.
class RunSlots {
 public:
  RunSlots(Device& device, PlanEdges& edges, MorePrograms& programs)
      : device_(device), edges_(edges), programs_(programs) {}

  // Makes slots anew before their next runs.
  void Apply(PlanEdges::Change change);

  // The copies of the slot of a run that is alone, to be submitted together with the plan's dispatches: see Begin.
  // False if nothing is staged.
  Result<bool> StagesAlone();
  void RecordAlone(Side side, CommandRecorder& recorder) const;

  // Uploads inputs and submits their move to the plan's arena. `plan_copies`: the plan's submission moves inputs and
  // outputs itself, so Begin and End submit nothing. A run that is alone first waits until the device is done with all
  // others. It takes neither borrowed memory nor fences.
  Status Begin(SlotId id, std::span<const std::span<const std::byte>> inputs, std::span<const SyncPoint> wait_for,
               bool plan_copies);
  // Waits until the submission of Begin is finished.
  Status WaitForBegin(SlotId id);
  // Submits the move of outputs from the arena.
  Status End(SlotId id, std::span<const SyncPoint> signal, uint64_t* fence);
  // Waits for End and reads outputs. Afterwards the slot is free, also after an error. Precondition for a run that is
  // alone: the plan's dispatches are finished.
  Status Finish(SlotId id, std::span<const std::span<std::byte>> outputs);
  // Frees a slot whose Begin or End failed.
  void Abandon(SlotId id);

  // The bytes that the slot's last run copied, in Begin, in Finish and by segments on the CPU between them.
  TransferCounts& transfers(SlotId id) { return At(id).transfers; }

 private:
  struct Slot {
    bool is_ready = false;  // memory is made
    bool is_busy = false, is_stale = false;
    bool moves = false;             // in this run, inputs and outputs move in submissions of their own
    std::optional<Status> settled;  // how the run ended, once it was waited for
    Crossings inputs, outputs;
    std::unique_ptr<Executable> moving_inputs, moving_outputs;  // between that memory and the arena
    uint64_t input_submission = 0, output_submission = 0;       // of those, in this run
    size_t programs = 0;                                        // how many there were when the run began
    TransferCounts transfers;
  };

  Slot& At(SlotId id) { return id.kind == SlotKind::kAlone ? alone_ : slots_[id.index]; }
  Status Prepare(SlotKind kind, Slot& slot);
  Status PrepareMoves(Slot& slot);
  void DropStale();
  // Waits for the submissions of the slot's run.
  static Status Settle(Slot& slot);

  Device& device_;
  PlanEdges& edges_;
  MorePrograms& programs_;
  std::vector<std::shared_ptr<Buffer>> retired_;  // borrowed before, still used by a slot
  Slot alone_;
  std::deque<Slot> slots_;  // destroyed before the memory that they use
};

}  // namespace hearth

#endif  // HEARTH_HAL_RUN_RUN_SLOTS_H_
