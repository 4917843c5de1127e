// The segments of a plan that the CPU runs, and the values that pass through host memory: states and outputs too.
#ifndef HEARTH_HAL_RUN_HOST_SEGMENTS_H_
#define HEARTH_HAL_RUN_HOST_SEGMENTS_H_

#include <span>
#include <vector>

#include "hal/run/device_segments.h"
#include "hal/run/loaded_plan.h"
#include "hal/run/segment_run.h"

namespace hearth {

// For one thread at a time. Its arguments must outlive it.
class HostSegments {
 public:
  // `device`: runs the plan's other segments.
  HostSegments(const LoadedPlan& plan, DeviceSegments& device);

  // Waits for what the device was handed before, and computes the segment.
  Status Run(size_t segment, SegmentRun& run);
  // After the last segment: takes over the next content of states in host memory, and hands out the outputs that no
  // dispatch makes.
  Status Finish(SegmentRun& run);

  // The content of a state in host memory.
  std::vector<std::byte>& StateAt(const PlanState& state) { return values_[state.host.index]; }
  // The program's own memory of an output; see HostProgram::OutputInPlace. Empty if there is none.
  std::span<std::byte> OutputMemory(size_t index) const;

 private:
  // Where a value lies in this run. `value`: of a constant.
  std::span<const std::byte> Find(const HostPlace& place, ValueId value, const SegmentRun& run) const;
  std::span<std::byte> At(const HostPlace& place, const SegmentRun& run);
  Status Download(const HostTransfer& transfer, std::span<std::byte> dense, TransferCounts& counts) const;
  void NoteTimes(std::span<const HostNodeTime> times, double all_ms, std::vector<ProfileRow>& profile) const;
  Status AdvanceStates(SegmentRun& run);

  const LoadedPlan& plan_;
  DeviceSegments& device_;
  std::vector<std::vector<std::byte>> values_;  // as in Plan::host_bytes
  std::vector<HostTensor> tensors_;             // of the running segment
};

}  // namespace hearth

#endif  // HEARTH_HAL_RUN_HOST_SEGMENTS_H_
