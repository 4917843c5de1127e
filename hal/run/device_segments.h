// The segments of a plan that its device runs, in slices (watchdog_slices.h).
#ifndef HEARTH_HAL_RUN_DEVICE_SEGMENTS_H_
#define HEARTH_HAL_RUN_DEVICE_SEGMENTS_H_

#include <memory>
#include <span>
#include <vector>

#include "hal/device/device.h"
#include "hal/programs/more_programs.h"
#include "hal/run/loaded_plan.h"
#include "hal/run/run_slots.h"
#include "hal/run/segment_run.h"

namespace hearth {

// For one thread at a time. Its arguments must outlive it.
class DeviceSegments {
 public:
  DeviceSegments(const LoadedPlan& plan, MorePrograms& programs, RunSlots& slots);

  // Cuts slices, with the estimate times `correction`, and prepares them. After an error the earlier ones stay in use.
  // Call it before the first run, and again when `correction` has changed and no run is in flight.
  Status Cut(double correction);

  // Hands the device the segment, and waits for it only if the run is profiled.
  Status Run(size_t segment, SegmentRun& run);

  // For a plan that only the device runs, where values are staged: the whole run when no other is in flight, one
  // submission per slice; the first and the last include the copies from and to the staging buffers.
  bool has_whole() const { return !whole_.empty(); }
  Status RunWhole();
  // Prepares that again if the copies have changed since (MakeWholeStale).
  Status RenewWhole();
  void MakeWholeStale() { whole_is_stale_ = true; }

  // A run begins: Wait is for its submissions.
  void Begin() { submissions_.clear(); }
  // Waits until everything that was submitted here is finished.
  Status Wait();

 private:
  struct Slice {
    std::vector<DispatchPart> dispatches;
    std::unique_ptr<Executable> executable;  // made when first needed
  };
  using Executables = std::vector<std::unique_ptr<Executable>>;

  // Programs for dispatches that run in parts.
  Status LoadPartPrograms(std::span<const std::vector<Slice>> slices);
  Result<Executable*> ExecutableOf(Slice& slice) const;
  Result<Executables> PrepareWhole(std::span<const std::vector<Slice>> slices);
  Status Submit(Executable& executable);
  Status Profile(Slice& slice, std::vector<ProfileRow>& profile);

  const LoadedPlan& plan_;
  MorePrograms& programs_;
  RunSlots& slots_;
  std::vector<Program*> part_programs_;     // by kernel; null where none was needed
  std::vector<std::vector<Slice>> slices_;  // by segment
  Executables whole_;                       // uses the staging buffers of slots_
  bool whole_is_stale_ = false;
  Executable* last_submitted_ = nullptr;  // of slices_ or whole_; null: nothing is left to wait for
  uint64_t last_submission_ = 0;
  std::vector<uint64_t> submissions_;  // of the last run; a clone's may have numbers between
};

}  // namespace hearth

#endif  // HEARTH_HAL_RUN_DEVICE_SEGMENTS_H_
