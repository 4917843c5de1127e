// The frames of RunsInFlight.
#include <algorithm>

#include "core/base/error.h"
#include "hal/runs_in_flight.h"
#include "hal/smaller_groups.h"

namespace hearth {

Result<RunsInFlight::Endpoint> RunsInFlight::LentFrame(const Frame& frame, const PlanTensor& tensor) {
  HEARTH_ASSIGN(FrameLayout layout, LayoutOfFrame(frame, tensor.desc));
  const NativeMemory memory = MemoryOf(frame, layout.planes);
  const uint64_t most_bytes = std::min<uint64_t>(device_.info().max_binding_bytes, INT32_MAX);
  if (frame.memory != MemoryKind::kGlTexture && memory.size_bytes > most_bytes) {
    return Error(StatusCode::kResourceExhausted, "the buffer has {} bytes; a kernel of {} can read at most {}",
                 memory.size_bytes, device_.info().name, most_bytes);
  }
  Endpoint endpoint;
  HEARTH_ASSIGN(endpoint.lent, device_.ImportBuffer(memory));
  const bool is_texture = endpoint.lent->is_texture();
  // A texture made of texels in any order gives red first. One made of the bytes of linear memory gives the bytes.
  if (is_texture && IsExternal(frame.memory) && IsInTexels(frame)) layout.format = PixelFormat::kRgba8;
  HEARTH_ASSIGN(endpoint.table, device_.CreateBuffer(FrameTableBytes(tensor.desc)));
  HEARTH_TRY(device_.Write(*endpoint.table, 0, endpoint.table->size_bytes(), [&](std::span<std::byte> table) {
    FillFrameTable(layout.across, layout.down, table);
    return Status::Ok();
  }));
  const auto make = [&](const DeviceInfo& device) {
    return FrameKernel(layout, layout.planes, is_texture, tensor.transfer, device);
  };
  HEARTH_TRY(MakeKernelAndProgram(make, endpoint.kernel, endpoint.program));
  endpoint.is_ready = true;
  return endpoint;
}

Status RunsInFlight::BindFrame(size_t index, const Frame& frame) {
  const PlanTensor& input = plan_.inputs[index];
  HEARTH_CHECK(input.on_device);
  inputs_.resize(plan_.inputs.size());
  HEARTH_ASSIGN(Endpoint endpoint, LentFrame(frame, input));
  Replace(inputs_[index], std::move(endpoint));
  return Status::Ok();
}

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
    DeviceInfo info = InfoAsCompiled(device_);
    HEARTH_TRY(MakeInSmallerGroups(device_, info, [&]() -> Status {
      HEARTH_ASSIGN(is_new, input.Set(*frame, plan_.inputs[index].transfer, info));
      if (is_new) {
        HEARTH_ASSIGN(frame_programs_[index], ProgramFor(input.kernel().source));
      }
      return Status::Ok();
    }));
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

uint64_t RunsInFlight::frame_bytes() const {
  uint64_t bytes = 0;
  for (const auto& frame : frames_) bytes += frame != nullptr ? frame->size_bytes() : 0;
  return device_.info().unified_memory ? bytes : 2 * bytes;  // a staged frame is in memory twice
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
