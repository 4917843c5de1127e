// RunsInFlight's frames.
#include <algorithm>

#include "core/base/error.h"
#include "hal/runs_in_flight.h"

namespace hearth {

Result<bool> RunsInFlight::SetFrame(size_t index, const Frame* frame) {
  if (frame == nullptr && FrameOf(index, false) == nullptr) return false;
  frames_.resize(plan_.inputs.size());
  frame_programs_.resize(plan_.inputs.size());
  std::unique_ptr<FrameInput>& held = frames_[index];
  bool is_new = true;
  if (frame == nullptr) {
    held.reset();
  } else {
    auto next = held != nullptr ? nullptr : std::make_unique<FrameInput>();
    FrameInput& input = held != nullptr ? *held : *next;
    HEARTH_ASSIGN(is_new, input.Set(*frame, plan_.inputs[index].transfer, device_.info()));
    if (is_new) {
      HEARTH_ASSIGN(frame_programs_[index], ProgramFor(input.kernel().source));
    }
    if (next != nullptr) held = std::move(next);
  }
  if (!is_new) return false;
  for (Slot& slot : slots_) slot.is_stale = true;
  DropStale();
  arena_slot_.inputs.moving.reset();
  arena_slot_.outputs.moving.reset();
  arena_is_prepared_ = false;
  return true;
}

void RunsInFlight::RecordFrame(const PlanTensor& tensor, size_t k, const Side& side, CommandRecorder& recorder) const {
  const BoundRange& outside = side.on_device[k];
  Buffer* const inside = side.bytes[k] != nullptr ? side.bytes[k].get() : outside.buffer;
  if (inside != outside.buffer) recorder.Record(CopyCommand{outside, {inside, 0, outside.size_bytes}});
  const BindingKernel& kernel = frames_[k]->kernel();
  std::vector<BoundRange> ranges = frames_[k]->RangesIn(*inside);
  ranges.push_back(InArena(tensor));
  recorder.Record({frame_programs_[k], std::move(ranges), kernel.scalars, kernel.group_count,
                   fmt::format("frame '{}'", tensor.name)},
                  {false, false, true});
}

}  // namespace hearth
