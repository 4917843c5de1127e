// Cuts runs into submissions short enough for watchdogs: Windows allows a submission 2 s, drivers of mobile GPUs less.
#ifndef HEARTH_HAL_RUN_WATCHDOG_SLICES_H_
#define HEARTH_HAL_RUN_WATCHDOG_SLICES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/device/device_info.h"
#include "core/emit/kernel_source.h"
#include "core/plan/plan.h"

namespace hearth {

// A dispatch of a plan, or a box of its work groups.
struct DispatchPart {
  size_t dispatch = 0;  // index into plan.dispatches
  std::array<uint32_t, 3> first = {}, group_count = {};
  bool is_whole = true;

  bool is_first() const { return first == std::array<uint32_t, 3>{}; }
  friend bool operator==(const DispatchPart&, const DispatchPart&) = default;
};

// The limit of a slice in milliseconds; nullopt on software drivers, which have no watchdog.
std::optional<double> SliceLimitMs(const DeviceInfo& device);

// Work with an estimate (EstimatedMs, times `correction`) below the limit is one slice. A single dispatch that takes
// longer is divided by its work groups, if it has several and the device takes the kernel with three more scalars
// (WithFirstGroup). Without a limit everything is one slice.
std::vector<std::vector<DispatchPart>> SlicesOf(const Plan& plan, const Segment& segment, const DeviceInfo& device,
                                                std::optional<double> limit_ms, double correction);

// Learns from runs how far the estimate is off.
class SliceClock {
 public:
  // Takes the time of a whole run. The first run is not counted, because drivers compile late. Returns true if
  // `correction` has changed, which happens at most twice: after the second run and after the fourth.
  bool NoteRun(double measured_ms, double estimated_ms);
  double correction() const { return correction_; }

 private:
  double correction_ = 1, shortest_ms_ = 0;
  int runs_ = 0;
};

// How long a dispatch may take on hardware: the longer of the times for its arithmetic and its bytes, at rates of a
// slow GPU with the same number of compute units. It is rather too long than too short; measured runs correct it.
double EstimatedMs(const Dispatch& dispatch, const KernelSource& kernel, const DeviceInfo& device);

// The kernel with three additional scalars, kFirstGroup of each dimension, which GID and WGID start from. It is the
// same in every dialect: GL has no dispatch with a base, and OpenCL's offset does not change the group's number.
KernelSource WithFirstGroup(KernelSource source);

inline constexpr std::array<std::string_view, 3> kFirstGroup = {"FIRST_GROUP_X", "FIRST_GROUP_Y", "FIRST_GROUP_Z"};

}  // namespace hearth

#endif  // HEARTH_HAL_RUN_WATCHDOG_SLICES_H_
