// Binds a session's inputs to pictures.
#include <algorithm>

#include "core/base/error.h"
#include "frontends/api/hot_start.h"
#include "frontends/api/model_data.h"
#include "frontends/api/session_call.h"
#include "frontends/api/session_data.h"
#include "frontends/api/session_memory.h"
#include "hal/frame_layout.h"
#include "hal/open_external_frame.h"
#include "hearth/session.h"

namespace hearth {
namespace {

Status ReadFrameOf(SessionData& data, size_t index) {
  const Frame& frame = *data.input_states[index].frame;
  const TensorDesc& desc = data.runner->plan().inputs[index].desc;
  HEARTH_ASSIGN(const FrameLayout layout, LayoutOfFrame(frame, desc));
  ReadFrame(layout, HostPlanes(frame), desc, data.inputs[index]);
  return Status::Ok();
}

// Warns once per input: frames of a moving camera differ in numbers of the text.
void WarnOnce(SessionData& data, size_t index, std::string_view text) {
  const std::string whose = fmt::format("input '{}': ", data.model->inputs()[index].name);
  std::vector<std::string>& warnings = data.report.warnings;
  if (std::ranges::none_of(warnings, [&](const std::string& known) { return known.starts_with(whose); }))
    warnings.push_back(whose + std::string(text));
}

// Whether the device reads the frame. A frame beyond its memory or the limit is read on the host, with a warning.
Result<bool> PlaceFrame(SessionData& data, size_t index) {
  Result<bool> placed = data.runner->SetFrame(index, &*data.input_states[index].frame);
  if (placed.ok()) {
    if (const Status counted = CountFrames(data); !counted.ok()) {
      HEARTH_TRY(data.runner->SetFrame(index, nullptr).status());
      placed = counted;
    }
  }
  if (placed.status().code() != StatusCode::kResourceExhausted) return placed;
  WarnOnce(data, index, placed.status().message() + "; the CPU makes the input of it");
  return false;
}

std::chrono::milliseconds ReadingLimit(const SessionData& data) {
  return std::chrono::milliseconds(std::max(0, data.options.wait_limit_ms));
}

// While it lives, the host reads a frame that the device imported.
class HostReading {
 public:
  HostReading(ExternalFrame& external, std::chrono::milliseconds limit)
      : external_(external), frame_(Begin(external, limit)) {}
  ~HostReading() { external_.EndReading(); }
  HostReading(const HostReading&) = delete;
  HostReading& operator=(const HostReading&) = delete;
  const Result<Frame>& frame() const { return frame_; }

 private:
  static Result<Frame> Begin(ExternalFrame& external, std::chrono::milliseconds limit) {
    HEARTH_TRY(external.OnHost().status());  // it is mapped before the reading begins
    HEARTH_TRY(external.BeginReading(limit));
    return external.OnHost();
  }

  ExternalFrame& external_;
  Result<Frame> frame_;
};

// Binds an input to memory that the device imports, or that the host reads if it can't.
Status BindExternalFrame(SessionData& data, size_t index, const Frame& given) {
  HEARTH_ASSIGN(std::shared_ptr<ExternalFrame> external, OpenExternalFrame(given));
  const TensorDesc& desc = data.runner->plan().inputs[index].desc;
  Frame lent = external->frame();
  if (lent.memory == MemoryKind::kDmaBuf) {
    // A wrong frame is refused before a driver sees it.
    Frame checked = lent;
    if (!IsInTexels(lent)) checked.memory = MemoryKind::kHost;
    HEARTH_TRY(LayoutOfFrame(checked, desc).status());
  }
  InterfaceState& state = data.input_states[index];
  const Status imported = data.runner->BindFrame(index, lent);
  if (imported.code() == StatusCode::kDeviceLost) return imported;
  if (imported.ok()) {
    state.Unbind();
    state.is_on_device = true;
    state.external = std::move(external);
    return Status::Ok();
  }
  const Result<Frame> on_host = external->OnHost();
  if (!on_host.ok()) return Error(on_host.status().code(), "{} ({})", on_host.status().message(), imported.message());
  HEARTH_TRY(LayoutOfFrame(*on_host, desc).status());
  HEARTH_TRY(data.runner->BindInput(index, {.memory = MemoryKind::kHost}));
  state.Unbind();
  state.frame = *on_host;
  state.external = std::move(external);
  HEARTH_ASSIGN(const bool is_placed, PlaceFrame(data, index));
  if (is_placed) WarnOnce(data, index, "the host reads the frame's memory: " + imported.message());
  return Status::Ok();
}

}  // namespace

Status FrameReading::Begin() {
  for (size_t k = 0; k < data_.input_states.size(); ++k) {
    InterfaceState& state = data_.input_states[k];
    if (state.external == nullptr) continue;
    HEARTH_TRY(state.external->BeginReading(ReadingLimit(data_)).Within("'" + data_.model->inputs()[k].name + "'"));
    if (state.frame) {
      HEARTH_ASSIGN(state.frame, state.external->OnHost());
    }
  }
  return Status::Ok();
}

FrameReading::~FrameReading() {
  data_.reads_frames = false;
  for (const InterfaceState& state : data_.input_states) {
    if (state.external != nullptr) state.external->EndReading();
  }
}

Status HandFramesToHost(SessionData& data) {
  for (RunSlot& slot : data.slots) {
    for (size_t k = 0; k < slot.imported.size(); ++k) {
      const std::shared_ptr<ExternalFrame> external = std::move(slot.imported[k]);
      if (external == nullptr || slot.number == 0 || slot.is_done) continue;
      const HostReading reading(*external, ReadingLimit(data));
      HEARTH_ASSIGN(const Frame frame, reading.frame());
      const TensorDesc& desc = data.runner->plan().inputs[k].desc;
      HEARTH_ASSIGN(const FrameLayout layout, LayoutOfFrame(frame, desc));
      slot.inputs[k].resize(desc.size_bytes());
      ReadFrame(layout, HostPlanes(frame), desc, slot.inputs[k]);
    }
  }
  for (InterfaceState& state : data.input_states) {
    if (!state.is_on_device || state.external == nullptr) continue;
    HEARTH_TRY(state.external->OnHost().status());  // it is mapped before the reading begins
    if (data.reads_frames) HEARTH_TRY(state.external->BeginReading(ReadingLimit(data)));
    HEARTH_ASSIGN(state.frame, state.external->OnHost());
    state.is_on_device = false;
  }
  return Status::Ok();
}

Status PlaceFrames(SessionData& data) {
  for (size_t k = 0; k < data.input_states.size(); ++k) {
    if (!data.input_states[k].frame) {
      HEARTH_TRY(data.runner->SetFrame(k, nullptr).status());
      continue;
    }
    HEARTH_ASSIGN(const bool is_placed, PlaceFrame(data, k));
    if (!is_placed) HEARTH_TRY(ReadFrameOf(data, k));
  }
  return CountFrames(data);  // no longer counts dropped frames
}

Status DropFrames(SessionData& data) {
  for (size_t k = 0; k < data.input_states.size(); ++k) HEARTH_TRY(data.runner->SetFrame(k, nullptr).status());
  return Status::Ok();
}

Status KeepInputs(const SessionData& data, RunSlot& slot) {
  slot.inputs.resize(data.inputs.size());
  slot.frames.resize(data.inputs.size());
  slot.imported.assign(data.inputs.size(), nullptr);
  for (size_t k = 0; k < data.inputs.size(); ++k) {
    const std::optional<Frame>& frame = data.input_states[k].frame;
    KeptFrame& kept = slot.frames[k];
    if (!frame) {
      const InterfaceState& state = data.input_states[k];
      if (state.is_on_device) slot.imported[k] = state.external;
      slot.inputs[k] = state.is_on_device ? std::vector<std::byte>() : data.inputs[k];
      kept.bytes.clear();
      continue;
    }
    const TensorDesc& desc = data.runner->plan().inputs[k].desc;
    HEARTH_ASSIGN(const FrameLayout layout, LayoutOfFrame(*frame, desc));
    slot.inputs[k].clear();
    KeepFrame(layout, HostPlanes(*frame), kept);
  }
  // A memory limit counts copies of inputs, but no larger pictures.
  if (data.options.memory_limit_bytes != 0) MakeKeptInputs(data, slot);
  return Status::Ok();
}

void MakeKeptInputs(const SessionData& data, RunSlot& slot) {
  for (size_t k = 0; k < slot.frames.size(); ++k) {
    KeptFrame& kept = slot.frames[k];
    if (kept.bytes.empty()) continue;
    const TensorDesc& desc = data.runner->plan().inputs[k].desc;
    slot.inputs[k].resize(desc.size_bytes());
    ReadFrame(kept, desc, slot.inputs[k]);
    kept = {};
  }
}

Status Session::BindFrame(std::string_view name, const Frame& frame) {
  const SessionCall call(data_.get());
  HEARTH_TRY(call.status());
  HEARTH_TRY(CheckHasDevice(*data_));
  HEARTH_ASSIGN(const size_t index, IndexOf(inputs(), name, "input"));
  if (IsExternal(frame.memory)) return BindExternalFrame(*data_, index, frame).Within(fmt::format("'{}'", name));
  const TensorDesc& desc = data_->runner->plan().inputs[index].desc;
  HEARTH_TRY(LayoutOfFrame(frame, desc).status().Within(fmt::format("'{}'", name)));
  const bool is_on_device = frame.memory != MemoryKind::kHost;
  HEARTH_TRY(is_on_device
                 ? WithHotHint(*data_, data_->runner->BindFrame(index, frame).Within(fmt::format("'{}'", name)))
                 : data_->runner->BindInput(index, {.memory = MemoryKind::kHost}));
  InterfaceState& state = data_->input_states[index];
  state.Unbind();
  state.is_on_device = is_on_device;
  if (is_on_device) return Status::Ok();
  state.frame = frame;
  // Compiles a new kernel now. A run reports an error of the device.
  return PlaceFrame(*data_, index).status();
}

}  // namespace hearth
