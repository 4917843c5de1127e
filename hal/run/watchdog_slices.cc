#include "hal/run/watchdog_slices.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "core/emit/first_group.h"
#include "core/emit/kernel_limits.h"
#include "core/plan/dispatch_cost.h"

namespace hearth {
namespace {

constexpr double kSliceMs = 100;
constexpr int kFirstCorrection = 2, kLastCorrection = 4;  // runs
constexpr double kMostParts = 256;                        // of one dispatch

using Groups = std::array<uint32_t, 3>;

double GroupsOf(const Groups& count) {
  return static_cast<double>(count[0]) * count[1] * count[2];
}

// Into how many pieces each dimension is cut, the longest first, for the wanted number of parts.
Groups PiecesOf(const Groups& group_count, uint32_t wanted) {
  std::array<size_t, 3> by_length = {0, 1, 2};
  std::ranges::stable_sort(by_length, std::greater(), [&](size_t d) { return group_count[d]; });
  Groups pieces = {1, 1, 1};
  for (const size_t d : by_length) {
    pieces[d] = std::max(1u, std::min(wanted, group_count[d]));
    wanted = (wanted + pieces[d] - 1) / pieces[d];
  }
  return pieces;
}

std::vector<DispatchPart> PartsOf(const Plan& plan, size_t index, double wanted, const DeviceInfo& device) {
  const Dispatch& dispatch = plan.dispatches[index];
  const Groups& all = dispatch.group_count;
  const Groups pieces = PiecesOf(all, static_cast<uint32_t>(std::clamp(wanted, 1.0, kMostParts)));
  const bool is_whole =
      pieces == Groups{1, 1, 1} || !CheckKernelLimits(WithFirstGroup(plan.kernels[dispatch.kernel]), device).ok();
  if (is_whole) return {{index, {}, all, true}};
  Groups size;
  for (size_t d = 0; d < 3; ++d) size[d] = all[d] / pieces[d];  // rounded down: no part is larger than wanted
  std::vector<DispatchPart> parts;
  for (uint32_t z = 0; z < all[2]; z += size[2]) {
    for (uint32_t y = 0; y < all[1]; y += size[1]) {
      for (uint32_t x = 0; x < all[0]; x += size[0]) {
        const Groups count = {std::min(size[0], all[0] - x), std::min(size[1], all[1] - y),
                              std::min(size[2], all[2] - z)};
        parts.push_back({index, {x, y, z}, count, false});
      }
    }
  }
  return parts;
}

}  // namespace

std::optional<double> SliceLimitMs(const DeviceInfo& device) {
  return device.is_software() ? std::nullopt : std::optional(kSliceMs);
}

std::vector<std::vector<DispatchPart>> SlicesOf(const Plan& plan, const Segment& segment, const DeviceInfo& device,
                                                std::optional<double> limit_ms, double correction) {
  std::vector<std::vector<DispatchPart>> slices;
  double slice_ms = 0;
  for (size_t k = segment.first_dispatch; k < size_t{segment.first_dispatch} + segment.dispatch_count; ++k) {
    const Dispatch& dispatch = plan.dispatches[k];
    const double ms = limit_ms ? correction * EstimatedMs(dispatch, plan.kernels[dispatch.kernel], device) : 0;
    const double limit = limit_ms.value_or(std::numeric_limits<double>::infinity());
    const std::vector<DispatchPart> parts = PartsOf(plan, k, std::ceil(ms / limit), device);
    for (const DispatchPart& part : parts) {
      const double part_ms = ms * GroupsOf(part.group_count) / GroupsOf(dispatch.group_count);
      if (slices.empty() || slice_ms + part_ms > limit) {
        slices.emplace_back();
        slice_ms = 0;
      }
      slices.back().push_back(part);
      slice_ms += part_ms;
    }
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
