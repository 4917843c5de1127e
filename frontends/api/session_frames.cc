// Binds a session's inputs to pictures.
#include <algorithm>

#include "core/base/error.h"
#include "frontends/api/hot_start.h"
#include "frontends/api/model_data.h"
#include "frontends/api/session_call.h"
#include "frontends/api/session_data.h"
#include "frontends/api/session_memory.h"
#include "hal/frame_layout.h"
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
  const std::string whose = fmt::format("input '{}': ", data.model->inputs()[index].name);
  std::vector<std::string>& warnings = data.report.warnings;
  // Warns once per input: frames of a moving camera differ in the number of missing bytes.
  if (std::ranges::none_of(warnings, [&](const std::string& known) { return known.starts_with(whose); }))
    warnings.push_back(whose + placed.status().message() + "; the CPU makes the input of it");
  return false;
}

}  // namespace

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

Status ReadFrames(SessionData& data) {
  for (size_t k = 0; k < data.input_states.size(); ++k) {
    if (data.input_states[k].frame) HEARTH_TRY(ReadFrameOf(data, k));
  }
  return Status::Ok();
}

Status Session::BindFrame(std::string_view name, const Frame& frame) {
  const SessionCall call(data_.get());
  HEARTH_TRY(call.status());
  HEARTH_TRY(CheckHasDevice(*data_));
  HEARTH_ASSIGN(const size_t index, IndexOf(inputs(), name, "input"));
  const TensorDesc& desc = data_->runner->plan().inputs[index].desc;
  HEARTH_TRY(LayoutOfFrame(frame, desc).status().Within(fmt::format("'{}'", name)));
  const bool is_on_device = frame.memory != MemoryKind::kHost;
  HEARTH_TRY(is_on_device ? WithHotHint(*data_, data_->runner->BindFrame(index, frame))
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
