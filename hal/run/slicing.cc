#include "hal/run/slicing.h"

#include <algorithm>
#include <utility>

namespace hearth {
namespace {

constexpr double kLittleMs = 1;  // next to the limit of a slice

}  // namespace

Slicing::Slicing(const LoadedPlan& plan) {
  const DeviceInfo& info = plan.device().info();
  // A software driver's times say nothing about the device that it simulates.
  if (info.is_software() || !info.simulates.empty()) return;
  for (const Dispatch& dispatch : plan.plan().dispatches)
    estimated_ms_ += EstimatedMs(dispatch, plan.plan().kernels[dispatch.kernel], info);
}

void Slicing::Begin(SlotId slot, bool may_count) {
  timed_.reset();
  if (in_flight_ == 0 && may_count) timed_.emplace().slot = slot;
}

void Slicing::Submitted(double host_ms) {
  ++in_flight_;
  if (!timed_) return;
  timed_->submit_ms = timed_->watch.milliseconds();
  timed_->host_ms = host_ms;
}

bool Slicing::Finished(SlotId slot, double finish_ms, bool ok) {
  in_flight_ = std::max(0, in_flight_ - 1);
  if (!ok || !timed_ || timed_->slot != slot) return false;
  const TimedRun run = *std::exchange(timed_, std::nullopt);
  const double all_ms = run.watch.milliseconds();
  // A run that its caller left alone for longer than Finish took may have ended long before.
  const double alone_ms = all_ms - run.submit_ms - finish_ms;
  if (slot.kind == SlotKind::kInFlight && alone_ms > std::max(finish_ms, kLittleMs)) return false;
  return clock_.NoteRun(all_ms - run.host_ms, estimated_ms_);
}

}  // namespace hearth
