// A session's inputs, outputs and runs.
#include <algorithm>
#include <chrono>
#include <functional>

#include "core/base/error.h"
#include "core/base/run_limit.h"
#include "frontends/api/device_behind.h"
#include "frontends/api/hot_start.h"
#include "frontends/api/next_device.h"
#include "frontends/api/resize.h"
#include "frontends/api/session_call.h"
#include "frontends/api/session_data.h"
#include "frontends/api/session_memory.h"
#include "frontends/api/shown_outputs.h"
#include "hearth/session.h"

namespace hearth {

Result<size_t> IndexOf(const std::vector<TensorInfo>& tensors, std::string_view name, std::string_view kind) {
  std::string names;
  for (size_t k = 0; k < tensors.size(); ++k) {
    if (tensors[k].name == name || (!name.empty() && tensors[k].alias == name)) return k;
    names += fmt::format("{}'{}'", k == 0 ? "" : ", ", tensors[k].name);
  }
  return Error(StatusCode::kInvalidArgument, "the model has no {} named '{}'; it has {}", kind, name, names);
}

Status CheckHasDevice(const SessionData& data) {
  if (data.runner != nullptr) return Status::Ok();
  return Error(StatusCode::kDeviceLost, "the session lost its device and found no other; open a new one");
}

namespace {

using InputSpans = std::vector<std::span<const std::byte>>;
using OutputSpans = std::vector<std::span<std::byte>>;

Status CheckInputsAreSet(const SessionData& data) {
  HEARTH_TRY(CheckHasDevice(data));
  for (size_t k = 0; k < data.input_states.size(); ++k) {
    const InterfaceState& state = data.input_states[k];
    if (!state.is_set && !state.is_bound())
      return Error(StatusCode::kInvalidArgument, "input '{}' was not given", data.model->inputs()[k].name);
  }
  return Status::Ok();
}

// Copies inputs bound to host memory into dense tensors.
void ReadHostBindings(SessionData& data) {
  for (size_t k = 0; k < data.inputs.size(); ++k) {
    const InterfaceState& state = data.input_states[k];
    if (state.layout) ReadBinding(*state.layout, data.runner->plan().inputs[k].desc, state.memory, data.inputs[k]);
  }
}

void WriteHostBindings(SessionData& data) {
  for (size_t k = 0; k < data.outputs.size(); ++k) {
    const InterfaceState& state = data.output_states[k];
    if (state.layout)
      WriteBinding(*state.layout, data.runner->plan().outputs[k].desc, ShownOutput(data, k), state.memory);
  }
}

void NoteFinishedRun(SessionData& data, double milliseconds) {
  const TransferCounts& transfers = data.runner->transfers();
  data.report.transfers = {transfers.to_device_bytes, transfers.to_host_bytes};
  const bool is_first = !data.has_run && data.report.ready_ms == 0;
  data.has_run = true;
  if (!is_first) return;
  data.report.first_run_ms = milliseconds;
  data.report.ready_ms = data.report.init_ms.total + data.report.first_run_ms;
}

// Loops on the CPU have the same time limit as a device if the program set one.
RunLimit::Check LimitOf(const SessionData& data) {
  using Clock = std::chrono::steady_clock;
  const int limit_ms = data.options.wait_limit_ms;
  if (limit_ms <= 0) return nullptr;
  return [limit_ms, end = Clock::now() + std::chrono::milliseconds(limit_ms)] {
    if (Clock::now() < end) return Status::Ok();
    return Error(StatusCode::kResourceExhausted,
                 "the run took more than {} ms; wait_limit_ms sets a longer limit, or none", limit_ms);
  };
}

Result<RunSlot*> FreeSlot(SessionData& data) {
  for (RunSlot& slot : data.slots) {
    if (slot.number == 0) return &slot;
  }
  return Error(StatusCode::kResourceExhausted,
               "{} runs are in flight, as many as SessionOptions::max_in_flight allows; wait for one first",
               data.slots.size());
}

bool NeedsSlot(const SessionData& data) {
  const auto on_device = [](const InterfaceState& state) { return state.is_on_device; };
  return std::any_of(data.slots.begin(), data.slots.end(), [](const RunSlot& slot) { return slot.number != 0; }) ||
         std::any_of(data.input_states.begin(), data.input_states.end(), on_device) ||
         std::any_of(data.output_states.begin(), data.output_states.end(), on_device);
}

Result<Ticket> SubmitRun(SessionData& data, const SubmitOptions& options, std::vector<ProfileRow>* profile) {
  HEARTH_TRY(CheckInputsAreSet(data));
  HEARTH_ASSIGN(RunSlot * slot, FreeSlot(data));
  const FrameReading reading(data);
  HEARTH_TRY(reading.status());
  if (slot->outputs.empty()) HEARTH_TRY(CountRunInFlight(data));
  KeepShownOutputs(data);
  BeginRun(data);
  slot->submitted_at_ms = data.since_asked.milliseconds();
  ReadHostBindings(data);
  slot->outputs.resize(data.outputs.size());
  for (size_t k = 0; k < slot->outputs.size(); ++k) slot->outputs[k].resize(data.model->outputs()[k].size_bytes);
  const auto index = static_cast<size_t>(slot - data.slots.data());
  Ticket ticket;
  const RunLimit limit(LimitOf(data));
  const bool is_synchronized = !options.wait_for.empty() || !options.signal.empty() || options.make_fence;
  const auto submit = [&]() -> Status {
    HEARTH_TRY(PlaceFrames(data));
    const SubmitSync sync{options.wait_for, options.signal, options.make_fence ? &ticket.fence : nullptr};
    const InputSpans inputs(data.inputs.begin(), data.inputs.end());
    const OutputSpans outputs(data.slots[index].outputs.begin(), data.slots[index].outputs.end());
    return data.runner->Submit(index, inputs, outputs, sync, profile);
  };
  const Status submitted = is_synchronized ? WithHotHint(data, submit()) : RunOnAUsableDevice(data, submit);
  EndRun(data, data.since_asked.milliseconds() - data.slots[index].submitted_at_ms);
  HEARTH_TRY(submitted);
  slot = &data.slots[index];
  slot->is_done = false;
  if (HasNextDevice(data) && !is_synchronized) {
    HEARTH_TRY(KeepInputs(data, *slot));
  } else {
    slot->inputs.clear();
    slot->frames.clear();
    slot->imported.clear();
  }
  ticket.number = slot->number = ++data.submit_count;
  return ticket;
}

// Waits for the outputs, and reads the states if no later run is in flight.
Status FinishSlot(SessionData& data, size_t index) {
  RunSlot& slot = data.slots[index];
  if (slot.is_done) return Status::Ok();
  const OutputSpans outputs(slot.outputs.begin(), slot.outputs.end());
  HEARTH_TRY(data.runner->Finish(index, outputs));
  const bool is_last = std::ranges::none_of(
      data.slots, [&](const RunSlot& other) { return &other != &slot && other.number != 0 && !other.is_done; });
  if (is_last) return KeepStates(data);
  ++data.runs_since_kept;
  return Status::Ok();
}

// Whether an output shares memory with an input: the run then can't be repeated.
bool AnyOverlap(std::span<const std::span<const std::byte>> inputs, std::span<const std::span<std::byte>> outputs) {
  return std::ranges::any_of(outputs, [&](std::span<std::byte> output) {
    return std::ranges::any_of(inputs, [&](std::span<const std::byte> input) {
      return std::less<>()(input.data(), output.data() + output.size()) &&
             std::less<>()(output.data(), input.data() + input.size());
    });
  });
}

// Each turn rejects what the one before was made from: programs, then the SPIR-V that they were made from again. Not
// until nothing is left, because a server may give the same entries again.
constexpr int kMostRestarts = 3;

// Each attempt calls `outputs`. With `takes_frames` inputs that are bound to frames are read from them.
Status RunAndWait(SessionData& data, const InputSpans& inputs, const std::function<OutputSpans()>& outputs,
                  std::vector<ProfileRow>* profile, bool takes_frames) {
  const Stopwatch watch;
  std::optional<FrameReading> reading;
  if (takes_frames) HEARTH_TRY(reading.emplace(data).status());
  BeginRun(data);
  const RunLimit limit(LimitOf(data));
  const Status finished = RunOnAUsableDevice(data, [&]() -> Status {
    const auto run = [&]() -> Status {
      HEARTH_TRY(takes_frames ? PlaceFrames(data) : DropFrames(data));
      if (profile != nullptr) profile->clear();
      return data.runner->Run(inputs, outputs(), profile);
    };
    Status status = run();
    for (int turn = 0; turn < kMostRestarts && !status.ok() && RestartWithoutStored(data, status); ++turn) {
      status = run();
    }
    HEARTH_TRY(status);
    return KeepStates(data);
  });
  EndRun(data, watch.milliseconds());
  HEARTH_TRY(finished);
  NoteFinishedRun(data, watch.milliseconds());
  return Status::Ok();
}

}  // namespace

Status RunOnOwnMemory(SessionData& data, std::vector<ProfileRow>* profile) {
  const InputSpans inputs(data.inputs.begin(), data.inputs.end());
  HEARTH_TRY(RunAndWait(
      data, inputs, [&data] { return ShowOwnRuns(data); }, profile, true));
  data.shows_run = true;
  return Status::Ok();
}

Status RunOnMemory(SessionData& data, std::span<const std::span<const std::byte>> inputs,
                   std::span<const std::span<std::byte>> outputs, std::vector<ProfileRow>* profile) {
  KeepShownOutputs(data);
  std::vector<std::vector<std::byte>> copies;
  InputSpans kept(inputs.begin(), inputs.end());
  const bool may_repeat = HasNextDevice(data) || data.behind != nullptr;
  if (may_repeat && AnyOverlap(inputs, outputs)) {
    for (const std::span<const std::byte> input : inputs) copies.emplace_back(input.begin(), input.end());
    kept.assign(copies.begin(), copies.end());
  }
  return RunAndWait(
      data, kept, [&] { return OutputSpans(outputs.begin(), outputs.end()); }, profile, false);
}

namespace {

Status WaitForRun(SessionData& data, uint64_t number) {
  const auto slot = std::find_if(data.slots.begin(), data.slots.end(),
                                 [&](const RunSlot& slot) { return number != 0 && slot.number == number; });
  if (slot == data.slots.end())
    return Error(StatusCode::kInvalidArgument, "run {} was never submitted, or has been waited for already", number);
  const auto index = static_cast<size_t>(slot - data.slots.begin());
  const Status finished = RunOnAUsableDevice(data, [&] { return FinishSlot(data, index); });
  RunSlot& done = data.slots[index];
  done.number = 0;
  done.imported.clear();  // the memory is the program's again
  HEARTH_TRY(finished);
  std::swap(data.outputs, done.outputs);
  data.shows_run = true;
  NoteFinishedRun(data, data.since_asked.milliseconds() - done.submitted_at_ms);
  WriteHostBindings(data);
  return Status::Ok();
}

// Runs on the memory that SetInput, BindInput and BindOutput set. `profile` may be null.
Status RunOnNamedMemory(SessionData& data, std::vector<ProfileRow>* profile) {
  if (NeedsSlot(data)) {
    HEARTH_ASSIGN(const Ticket ticket, SubmitRun(data, {}, profile));
    return WaitForRun(data, ticket.number);
  }
  HEARTH_TRY(CheckInputsAreSet(data));
  ReadHostBindings(data);
  HEARTH_TRY(RunOnOwnMemory(data, profile));
  WriteHostBindings(data);
  return Status::Ok();
}

std::vector<ProfileEntry> EntriesOf(const std::vector<ProfileRow>& rows) {
  std::vector<ProfileEntry> entries;
  entries.reserve(rows.size());
  for (const ProfileRow& row : rows) entries.push_back({row.label, row.kernel, row.milliseconds});
  return entries;
}

}  // namespace

Status Session::CheckElements(const std::vector<TensorInfo>& tensors, size_t index, std::string_view kind,
                              std::string_view type) {
  if (index >= tensors.size())
    return Error(StatusCode::kInvalidArgument, "the model has {} {}s; there is no {} {}", tensors.size(), kind, kind,
                 index);
  const TensorInfo& tensor = tensors[index];
  if (tensor.dtype == type) return Status::Ok();
  return Error(StatusCode::kInvalidArgument, "{} '{}' holds {}, not {}", kind, tensor.name, tensor.dtype, type);
}

Status Session::SetInput(size_t index, std::span<const std::byte> bytes) {
  const SessionCall call(data_.get());
  HEARTH_TRY(call.status());
  if (index >= data_->inputs.size()) {
    return Error(StatusCode::kInvalidArgument, "the model has {} inputs; there is no input {}", data_->inputs.size(),
                 index);
  }
  if (bytes.data() == nullptr && !bytes.empty())
    return Error(StatusCode::kInvalidArgument, "the bytes for input '{}' are a null pointer", inputs()[index].name);
  if (bytes.size() != data_->inputs[index].size()) {
    return Error(StatusCode::kInvalidArgument, "input '{}' takes {} bytes, {} were given", inputs()[index].name,
                 data_->inputs[index].size(), bytes.size());
  }
  std::copy(bytes.begin(), bytes.end(), data_->inputs[index].begin());
  data_->input_states[index].is_set = true;
  return Status::Ok();
}

Status Session::SetInput(std::string_view name, std::span<const std::byte> bytes) {
  const SessionCall call(data_.get());
  HEARTH_TRY(call.status());
  HEARTH_ASSIGN(const size_t index, IndexOf(inputs(), name, "input"));
  return SetInput(index, bytes);
}

Status Session::Resize(const std::map<std::string, std::vector<int32_t>>& shapes) {
  const SessionCall call(data_.get());
  HEARTH_TRY(call.status());
  return ResizeSession(*data_, shapes);
}

Status Session::ResizeBatch(int32_t batch) {
  const SessionCall call(data_.get());
  HEARTH_TRY(call.status());
  return ResizeBatchOf(*data_, batch);
}

Status Session::Run() {
  const SessionCall call(data_.get());
  HEARTH_TRY(call.status());
  return RunOnNamedMemory(*data_, nullptr);
}

Status Session::Run(std::span<const std::span<const std::byte>> inputs, std::span<const std::span<std::byte>> outputs) {
  const SessionCall call(data_.get());
  HEARTH_TRY(call.status());
  return RunOnMemory(*data_, inputs, outputs, nullptr);
}

Result<Ticket> Session::Submit(const SubmitOptions& options) {
  const SessionCall call(data_.get());
  HEARTH_TRY(call.status());
  return SubmitRun(*data_, options, nullptr);
}

Status Session::Wait(const Ticket& ticket) {
  const SessionCall call(data_.get());
  HEARTH_TRY(call.status());
  return WaitForRun(*data_, ticket.number);
}

Result<std::vector<ProfileEntry>> Session::RunProfiled() {
  const SessionCall call(data_.get());
  HEARTH_TRY(call.status());
  std::vector<ProfileRow> rows;
  HEARTH_TRY(RunOnNamedMemory(*data_, &rows));
  return EntriesOf(rows);
}

Result<std::vector<ProfileEntry>> Session::RunProfiled(std::span<const std::span<const std::byte>> inputs,
                                                       std::span<const std::span<std::byte>> outputs) {
  const SessionCall call(data_.get());
  HEARTH_TRY(call.status());
  std::vector<ProfileRow> rows;
  HEARTH_TRY(RunOnMemory(*data_, inputs, outputs, &rows));
  return EntriesOf(rows);
}

Status Session::ResetState() {
  const SessionCall call(data_.get());
  HEARTH_TRY(call.status());
  data_->kept_states.clear();
  return RunOnAUsableDevice(*data_, [&] { return data_->runner->ResetState(); });
}

Status Session::CheckOutput(size_t index, std::string_view type) const {
  HEARTH_TRY(CheckElements(outputs(), index, "output", type));
  if (data_->shows_run) return Status::Ok();
  return Error(StatusCode::kInvalidArgument, "the session has not run with these shapes: there is no output '{}' yet",
               outputs()[index].name);
}

std::span<const std::byte> Session::output(size_t index) const {
  if (index >= outputs().size()) return {};
  return ShownOutput(*data_, index);
}

}  // namespace hearth
