#include "frontends/api/next_device.h"

#include <algorithm>

#include "core/base/error.h"

namespace hearth {
namespace {

using InputSpans = std::vector<std::span<const std::byte>>;
using OutputSpans = std::vector<std::span<std::byte>>;

bool IsOnDevice(const EdgeState& state) {
  return state.is_on_device;
}

// What is made ready anew says the same as before.
void DropRepeatedWarnings(std::vector<std::string>& warnings, size_t known) {
  const auto is_known = [&](const std::string& warning) {
    return std::find(warnings.begin(), warnings.begin() + static_cast<std::ptrdiff_t>(known), warning) !=
           warnings.begin() + static_cast<std::ptrdiff_t>(known);
  };
  std::vector<std::string> fresh(warnings.begin() + static_cast<std::ptrdiff_t>(known), warnings.end());
  std::erase_if(fresh, is_known);
  warnings.resize(known);
  warnings.insert(warnings.end(), fresh.begin(), fresh.end());
}

// Runs that nobody waited for yet, in their order.
Status RepeatRunsInFlight(SessionData& data) {
  std::vector<RunSlot*> busy;
  for (RunSlot& slot : data.slots) {
    if (slot.number != 0 && !slot.is_done) busy.push_back(&slot);
  }
  std::ranges::sort(busy, {}, &RunSlot::number);
  for (RunSlot* slot : busy) {
    const InputSpans inputs(slot->inputs.begin(), slot->inputs.end());
    const OutputSpans outputs(slot->outputs.begin(), slot->outputs.end());
    HEARTH_TRY(data.runner->Run(inputs, outputs));
    slot->is_done = true;
  }
  return busy.empty() ? Status::Ok() : KeepStates(data);
}

// What the caller set stays; so do the times of the start.
Status Move(SessionData& data, const Status& why) {
  auto inputs = std::move(data.inputs);
  auto outputs = std::move(data.outputs);
  auto input_states = std::move(data.input_states);
  auto output_states = std::move(data.output_states);
  auto slots = std::move(data.slots);
  const auto init_ms = data.report.init_ms;
  const size_t known = data.report.warnings.size();
  Status status = TakeNextDevice(data, "failed in a run", why);
  if (status.ok()) status = PrepareOnAUsableDevice(data);
  data.inputs = std::move(inputs);
  data.outputs = std::move(outputs);
  data.input_states = std::move(input_states);
  data.output_states = std::move(output_states);
  data.slots = std::move(slots);
  data.report.init_ms = init_ms;
  data.is_saved = false;
  DropRepeatedWarnings(data.report.warnings, known);
  data.logged_warnings = std::min(data.logged_warnings, data.report.warnings.size());
  HEARTH_TRY(status);
  return data.kept_states.empty() ? Status::Ok() : data.runner->WriteStates(data.kept_states);
}

}  // namespace

bool IsTheDevicesFault(const Status& status) {
  const StatusCode code = status.code();
  return code == StatusCode::kUnavailable || code == StatusCode::kDeviceLost || code == StatusCode::kResourceExhausted;
}

bool HasNextDevice(const SessionData& data) {
  return data.opened.device != nullptr && data.options.shared.index() == 0 && data.options.simulate.empty() &&
         IsAutoDevice(data.options.device);
}

Status TakeNextDevice(SessionData& data, std::string_view how, const Status& why) {
  const std::string id = data.opened.id;
  std::vector<std::string> earlier = std::move(data.opened.warnings);
  data.failed_ids.push_back(id);
  data.runner.reset();
  HEARTH_ASSIGN(data.opened, OpenChosenDevice(data.options.device, data.failed_ids, data.backends));
  data.opened.reason = fmt::format("{} {}", id, how);
  earlier.push_back(fmt::format("{} {}, the next device is taken: {}", id, how, why.message()));
  for (std::string& warning : data.opened.warnings) earlier.push_back(std::move(warning));
  data.opened.warnings = std::move(earlier);
  return Status::Ok();
}

bool CanMove(const SessionData& data) {
  if (!HasNextDevice(data) || data.runner == nullptr) return false;
  if (std::ranges::any_of(data.input_states, IsOnDevice) || std::ranges::any_of(data.output_states, IsOnDevice))
    return false;
  const bool any_synchronized = std::ranges::any_of(data.slots, [&](const RunSlot& slot) {
    return slot.number != 0 && !slot.is_done && slot.inputs.size() != data.inputs.size();
  });
  return !any_synchronized && (data.runner->plan().states.empty() || data.runs_since_kept == 0);
}

Status RunOnAUsableDevice(SessionData& data, const std::function<Status()>& run) {
  if (data.runner == nullptr)
    return Error(StatusCode::kDeviceLost, "the session lost its device and found no other; open a new one");
  Status status = run();
  while (IsTheDevicesFault(status) && CanMove(data)) {
    status = Move(data, status);
    if (status.ok()) status = RepeatRunsInFlight(data);
    if (status.ok()) status = run();
  }
  return status;
}

Status KeepStates(SessionData& data) {
  if (!HasNextDevice(data) || data.runner->plan().states.empty()) return Status::Ok();
  HEARTH_ASSIGN(data.kept_states, data.runner->ReadStates());
  data.runs_since_kept = 0;
  return Status::Ok();
}

}  // namespace hearth
