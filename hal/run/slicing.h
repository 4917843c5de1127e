// Decides by measured runs how a plan's dispatches are cut into slices.
#ifndef HEARTH_HAL_RUN_SLICING_H_
#define HEARTH_HAL_RUN_SLICING_H_

#include <optional>

#include "hal/device/stopwatch.h"
#include "hal/run/loaded_plan.h"
#include "hal/run/run_slots.h"
#include "hal/run/watchdog_slices.h"

namespace hearth {

// A run whose time counts.
struct TimedRun {
  SlotId slot;
  Stopwatch watch;
  double submit_ms = 0, host_ms = 0;
};

// Told of each run; only those count that are not in flight with others and wait for nobody's sync points.
class Slicing {
 public:
  explicit Slicing(const LoadedPlan& plan);

  void Begin(SlotId slot, bool may_count);
  // `host_ms`: of segments on the CPU in Submit.
  void Submitted(double host_ms);
  void Failed() { timed_.reset(); }
  // The run was finished, in `finish_ms`; `ok`: and succeeded. True if slices must be cut anew, by correction().
  bool Finished(SlotId slot, double finish_ms, bool ok);
  double correction() const { return clock_.correction(); }

 private:
  double estimated_ms_ = 0;  // of the device's segments; 0: nothing is measured
  SliceClock clock_;
  std::optional<TimedRun> timed_;
  int in_flight_ = 0;
};

}  // namespace hearth

#endif  // HEARTH_HAL_RUN_SLICING_H_
