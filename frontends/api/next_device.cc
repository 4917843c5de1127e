#include "frontends/api/next_device.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/run_limit.h"
#include "frontends/api/shown_outputs.h"

namespace hearth {
namespace {

using InputSpans = std::vector<std::span<const std::byte>>;
using OutputSpans = std::vector<std::span<std::byte>>;

// A user who simulates a device gets no other one unless next_device asks for it.
bool MayTakeAnother(const SessionData& data) {
  return data.options.next_device || (IsAutoDevice(data.options.device) && data.options.simulate.empty());
}

// Preparing a device again repeats its warnings: only new ones are added.
void AddNewWarnings(std::vector<std::string>& warnings, std::vector<std::string>& fresh) {
  const auto known = static_cast<std::ptrdiff_t>(warnings.size());
  for (std::string& warning : fresh) {
    const auto end = warnings.begin() + known;
    if (std::find(warnings.begin(), end, warning) == end) warnings.push_back(std::move(warning));
  }
  fresh.clear();
}

// Takes over the part of the report that concerns the device; the start's times stay.
void AdoptReport(SessionData& data, Report& fresh) {
  Report& report = data.report;
  report.device = std::move(fresh.device);
  report.precision = std::move(fresh.precision);
  report.ops = std::move(fresh.ops);
  report.programs = fresh.programs;
  report.tuning = std::move(fresh.tuning);
  report.transfers = fresh.transfers;
  const uint64_t both_live_bytes = report.memory.both_live_bytes;
  report.memory = fresh.memory;
  report.memory.both_live_bytes = both_live_bytes;
  report.save_ms += fresh.save_ms;
  AddNewWarnings(report.warnings, fresh.warnings);
  // In run 1 the failed device has not answered anything yet, so this device is the first to answer.
  if (data.run_count <= 1) report.start.first_by = report.device.id;
  if (data.run_count > 1) report.start.moved_at_run = data.run_count;
}

// Swaps everything that is made for one device.
void SwapDevices(SessionData& a, SessionData& b) {
  std::swap(a.failed_ids, b.failed_ids);
  std::swap(a.opened, b.opened);
  std::swap(a.host, b.host);
  std::swap(a.plan_request, b.plan_request);
  std::swap(a.made, b.made);
  std::swap(a.runner, b.runner);
  std::swap(a.held, b.held);
  std::swap(a.other_shapes, b.other_shapes);
  std::swap(a.tuning, b.tuning);
  std::swap(a.is_saved, b.is_saved);
  std::swap(a.rest_bytes, b.rest_bytes);
  std::swap(a.frame_bytes, b.frame_bytes);
  a.plan_request.device = &a.opened.info;
  b.plan_request.device = &b.opened.info;
}

// Repeats submitted runs that nobody has waited for, in order.
Status RepeatRunsInFlight(SessionData& data) {
  std::vector<RunSlot*> busy;
  for (RunSlot& slot : data.slots) {
    if (slot.number != 0 && !slot.is_done) busy.push_back(&slot);
  }
  std::ranges::sort(busy, {}, &RunSlot::number);
  for (RunSlot* slot : busy) {
    MakeKeptInputs(data, *slot);
    const InputSpans inputs(slot->inputs.begin(), slot->inputs.end());
    const OutputSpans outputs(slot->outputs.begin(), slot->outputs.end());
    HEARTH_TRY(data.runner->Run(inputs, outputs));
    slot->is_done = true;
  }
  return busy.empty() ? Status::Ok() : KeepStates(data);
}

// Closes the failed device before the next one is made ready: it may have failed for lack of memory.
Status Move(SessionData& data, const Status& why) {
  const std::unique_ptr<SessionData> next = DataBeside(data);
  data.other_shapes.clear();
  KeepShownOutputs(data);
  data.runner.reset();
  next->opened = std::move(data.opened);
  HEARTH_TRY(TakeNextDevice(*next, "failed in a run", why));
  HEARTH_TRY(PrepareOnAUsableDevice(*next));
  return TakeOver(data, *next, data.kept_states);
}

// The host can read frames that several drivers share.
bool IsOnThisDeviceOnly(const InterfaceState& state) {
  return state.is_on_device && state.external == nullptr;
}

// Whether an input of a run in flight was in memory that the program lent to this device and has taken back since.
bool LacksAnInput(const SessionData& data, const RunSlot& slot) {
  for (size_t k = 0; k < slot.inputs.size(); ++k) {
    const bool is_kept = !slot.inputs[k].empty() || !slot.frames[k].bytes.empty() || slot.imported[k] != nullptr;
    if (!is_kept && !data.inputs[k].empty()) return true;
  }
  return false;
}

// Whether runs in flight, states and bindings allow moving: not with lent memory, not if a run in flight waits for or
// signals sync points, and for a model with state only while all runs since the last copy of its states (KeepStates)
// are in flight.
bool CanMove(const SessionData& data) {
  if (!HasNextDevice(data) || data.runner == nullptr) return false;
  if (std::ranges::any_of(data.input_states, IsOnThisDeviceOnly) ||
      std::ranges::any_of(data.output_states, IsOnThisDeviceOnly))
    return false;
  const bool any_unrepeatable = std::ranges::any_of(data.slots, [&](const RunSlot& slot) {
    const bool is_busy = slot.number != 0 && !slot.is_done;
    return is_busy && (slot.inputs.size() != data.inputs.size() || LacksAnInput(data, slot));
  });
  return !any_unrepeatable && (data.runner->plan().states.empty() || data.runs_since_kept == 0);
}

}  // namespace

std::unique_ptr<SessionData> DataBeside(const SessionData& data) {
  auto next = std::make_unique<SessionData>();
  next->model = data.model;
  next->options = data.options;
  next->waits = data.waits;
  next->store = data.store;
  next->folder = data.folder;
  next->model_name = data.model_name;
  next->is_model_recalled = data.is_model_recalled;
  next->backends = data.backends;
  next->failed_ids = data.failed_ids;
  next->tests_devices = data.tests_devices;
  next->is_beside = true;
  return next;
}

Status TakeOver(SessionData& data, SessionData& next, std::span<const StateContent> states) {
  if (!next.runner->plan().states.empty()) HEARTH_TRY(next.runner->ResetState());
  HEARTH_TRY(next.runner->WriteStates(states));
  KeepShownOutputs(data);
  SwapDevices(data, next);
  AdoptReport(data, next.report);
  return Status::Ok();
}

bool IsTheDevicesFault(const Status& status) {
  const StatusCode code = status.code();
  return code == StatusCode::kUnavailable || code == StatusCode::kDeviceLost || code == StatusCode::kResourceExhausted;
}

bool HasNextDevice(const SessionData& data) {
  return data.opened.device != nullptr && data.options.shared.index() == 0 && MayTakeAnother(data) &&
         !data.stop.stop_requested();
}

Status TakeNextDevice(SessionData& data, std::string_view how, const Status& why) {
  const std::string id = data.opened.id;
  std::vector<std::string> earlier = std::move(data.opened.warnings);
  data.failed_ids.push_back(id);
  data.runner.reset();
  data.held = {};
  HEARTH_ASSIGN(data.opened, OpenChosenDevice("auto", data.failed_ids, data.backends));
  data.opened.reason = fmt::format("{} {}", id, how);
  earlier.push_back(fmt::format("{} {}, the next device is taken: {}", id, how, why.message()));
  for (std::string& warning : data.opened.warnings) earlier.push_back(std::move(warning));
  data.opened.warnings = std::move(earlier);
  return Status::Ok();
}

Status RunOnAUsableDevice(SessionData& data, const std::function<Status()>& run) {
  if (data.runner == nullptr)
    return Error(StatusCode::kDeviceLost, "the session lost its device and found no other; open a new one");
  Status status = run();
  while (IsTheDevicesFault(status) && !WasRunLimitReached() && CanMove(data)) {
    if (const Status handed = HandFramesToHost(data); !handed.ok())
      return Error(status.code(), "{}; the next device can't repeat the run: {}", status.message(), handed.message());
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
