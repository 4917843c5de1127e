// Runs in pieces that no watchdog ends: Windows allows a submission 2 s, drivers of mobile GPUs less.
#ifndef HEARTH_HAL_WATCHDOG_SLICES_H_
#define HEARTH_HAL_WATCHDOG_SLICES_H_

#include <cstddef>
#include <span>
#include <vector>

#include "core/device/device_info.h"
#include "core/plan/plan.h"

namespace hearth {

// Of each slice the indices into plan.steps. What is estimated (EstimatedMs, times `correction`) below 100 ms is one
// slice, and so is everything on a software driver, which nothing watches; a dispatch that takes longer is a slice
// alone.
std::vector<std::vector<size_t>> SlicesOf(const Plan& plan, std::span<const size_t> dispatches,
                                          const DeviceInfo& device, double correction);

// Learns from runs how far the estimate is off.
class SliceClock {
 public:
  // Of a whole run. What the first one takes is not counted: drivers compile late. True when `correction` is another
  // now, which it is at most twice: after the second run, and after the fourth.
  bool NoteRun(double measured_ms, double estimated_ms);
  double correction() const { return correction_; }

 private:
  double correction_ = 1, shortest_ms_ = 0;
  int runs_ = 0;
};

}  // namespace hearth

#endif  // HEARTH_HAL_WATCHDOG_SLICES_H_
