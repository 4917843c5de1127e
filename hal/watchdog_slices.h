// Runs in pieces that no watchdog ends: Windows allows a submission 2 s, drivers of mobile GPUs less.
#ifndef HEARTH_HAL_WATCHDOG_SLICES_H_
#define HEARTH_HAL_WATCHDOG_SLICES_H_

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "core/device/device_info.h"
#include "core/plan/plan.h"

namespace hearth {

// A dispatch of a plan, or a box of its work groups.
struct DispatchPart {
  size_t step = 0;  // index into plan.steps
  std::array<uint32_t, 3> first = {}, group_count = {};
  bool is_whole = true;

  bool is_first() const { return first == std::array<uint32_t, 3>{}; }
  friend bool operator==(const DispatchPart&, const DispatchPart&) = default;
};

// The most milliseconds of a slice; nothing on software drivers, which no watchdog minds.
std::optional<double> SliceLimitMs(const DeviceInfo& device);

// What is estimated (EstimatedMs, times `correction`) below the limit is one slice. A dispatch that alone takes longer
// is shared out over its work groups, as far as it has several and the device takes the kernel with three scalars more
// (WithFirstGroup). Without limit all is one slice.
std::vector<std::vector<DispatchPart>> SlicesOf(const Plan& plan, std::span<const size_t> dispatches,
                                                const DeviceInfo& device, std::optional<double> limit_ms,
                                                double correction);

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
