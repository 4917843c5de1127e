#include "hal/watchdog_slices.h"

#include <algorithm>

#include "core/plan/dispatch_cost.h"

namespace hearth {
namespace {

constexpr double kSliceMs = 100;
constexpr int kFirstCorrection = 2, kLastCorrection = 4;  // runs

}  // namespace

std::vector<std::vector<size_t>> SlicesOf(const Plan& plan, std::span<const size_t> dispatches,
                                          const DeviceInfo& device, double correction) {
  std::vector<std::vector<size_t>> slices;
  double slice_ms = 0;
  for (const size_t step : dispatches) {
    const auto& dispatch = std::get<Dispatch>(plan.steps[step]);
    const double ms =
        device.is_software() ? 0 : correction * EstimatedMs(dispatch, plan.kernels[dispatch.kernel], device);
    if (slices.empty() || slice_ms + ms > kSliceMs) {
      slices.emplace_back();
      slice_ms = 0;
    }
    slices.back().push_back(step);
    slice_ms += ms;
  }
  return slices;
}

bool SliceClock::NoteRun(double measured_ms, double estimated_ms) {
  if (runs_ >= kLastCorrection || estimated_ms <= 0) return false;
  ++runs_;
  if (runs_ == 1) return false;
  shortest_ms_ = runs_ == 2 ? measured_ms : std::min(shortest_ms_, measured_ms);
  if (runs_ != kFirstCorrection && runs_ != kLastCorrection) return false;
  correction_ = shortest_ms_ / estimated_ms;
  return true;
}

}  // namespace hearth
