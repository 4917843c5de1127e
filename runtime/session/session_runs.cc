// A session's inputs, outputs and runs.
#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>

#include "core/base/error.h"
#include "core/base/run_control.h"
#include "hearth/session.h"
#include "runtime/model/model_data.h"
#include "runtime/session/hot_start.h"
#include "runtime/session/move.h"
#include "runtime/session/session_call.h"
#include "runtime/session/session_data.h"

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
  const Prepared& prepared = data.context->prepared();
  if (data.context->has_device()) return prepared.reads_file ? prepared.model().data().CheckFile() : Status::Ok();
  return Error(StatusCode::kDeviceLost, "the session lost its device and found no other; open a new one");
}

namespace {

// While it lives, frames in memory that several drivers share are written and may be read. It waits for their
// producers; an error of that is its status.
class FrameReading {
 public:
  explicit FrameReading(SessionData& data) : status_(Begin(data)) {}
  ~FrameReading() {
    for (const std::shared_ptr<ExternalFrame>& frame : frames_) frame->EndReading();
  }
  FrameReading(const FrameReading&) = delete;
  FrameReading& operator=(const FrameReading&) = delete;
  const Status& status() const { return status_; }

 private:
  Status Begin(SessionData& data) {
    const std::chrono::milliseconds limit(std::max(0, data.options->wait_limit_ms));
    RunContext& context = *data.context;
    for (size_t k = 0; k < context.caller().inputs.size(); ++k) {
      Endpoint& endpoint = context.caller().inputs[k].endpoint;
      const std::shared_ptr<ExternalFrame> external = ExternalOf(endpoint);
      if (external == nullptr) continue;
      frames_.push_back(external);
      HEARTH_TRY(external->BeginReading(limit).Within("'" + context.model().inputs()[k].name + "'"));
      if (auto* on_host = std::get_if<HostFrame>(&endpoint)) {
        HEARTH_ASSIGN(on_host->frame, external->OnHost());
      }
    }
    return Status::Ok();
  }

  std::vector<std::shared_ptr<ExternalFrame>> frames_;
  Status status_;
};

void NoteFinishedRun(SessionData& data, double milliseconds) {
  RunContext& context = *data.context;
  const TransferCounts& transfers = context.runs().transfers();
  data.report.transfers = {transfers.to_device_bytes, transfers.to_host_bytes};
  context.NoteRun();
  context.SaveSoon();
  if (data.report.ready_ms != 0) return;
  data.report.first_run_ms = milliseconds;
  data.report.ready_ms = data.report.init_ms.total + data.report.first_run_ms;
}

// Loops on the CPU have the same time limit as a device if the program set one.
RunControl::Check LimitOf(const SessionData& data) {
  using Clock = std::chrono::steady_clock;
  const int limit_ms = data.options->wait_limit_ms;
  if (limit_ms <= 0) return nullptr;
  return [limit_ms, end = Clock::now() + std::chrono::milliseconds(limit_ms)] {
    if (Clock::now() < end) return Status::Ok();
    return Error(StatusCode::kResourceExhausted,
                 "the run took more than {} ms; wait_limit_ms sets a longer limit, or none", limit_ms);
  };
}

// The states are needed if the device may be lost in the next run.
Status RetainStates(SessionData& data) {
  return HasNextDevice(data.context->prepared().request) ? data.context->RetainStates() : Status::Ok();
}

Status PlaceFrames(SessionData& data) {
  return data.context->PlaceFrames([&data] { return CheckFramesFit(data); }, data.report.warnings);
}

// What one call of the session's runs with.
struct Running {
  RunControl& control;
  std::vector<ProfileRow>* profile = nullptr;  // null: not profiled
};

Result<Ticket> SubmitRun(SessionData& data, const SubmitOptions& options, const Running& running) {
  HEARTH_TRY(CheckHasDevice(data));
  HEARTH_TRY(data.context->CheckInputsAreSet());
  HEARTH_ASSIGN(const size_t index, data.context->FreeSlot());
  const FrameReading reading(data);
  HEARTH_TRY(reading.status());
  if (data.context->caller().slots[index].outputs.empty()) HEARTH_TRY(CheckRunInFlightFits(data));
  data.context->KeepVisibleOutputs();
  BeginRun(data);  // which may move
  const double begin_ms = data.since_asked.milliseconds();
  HEARTH_TRY(data.context->ReadBorrowedMemory());
  Ticket ticket;
  running.control.EndBy(LimitOf(data));
  const bool is_synchronized = !options.wait_for.empty() || !options.signal.empty() || options.make_fence;
  const auto submit = [&]() -> Status {
    HEARTH_TRY(PlaceFrames(data));
    const SubmitSync sync{options.wait_for, options.signal, options.make_fence ? &ticket.fence : nullptr};
    RunContext& context = *data.context;
    const OutputSpans outputs = context.OutputsOf(context.caller().slots[index]);
    return context.runs().Submit({SlotKind::kInFlight, index}, context.OwnInputs(), outputs,
                                 {sync, running.profile, &running.control});
  };
  const Status submitted =
      is_synchronized ? WithHotHint(data, submit()) : RunOnAUsableDevice(data, {submit, &running.control, true});
  EndRun(data, data.since_asked.milliseconds() - begin_ms);
  HEARTH_TRY(submitted);
  CallerState& caller = data.context->caller();
  RunSlot& slot = caller.slots[index];
  slot.submitted_at_ms = begin_ms;
  slot.is_done = false;
  const bool may_repeat = HasNextDevice(data.context->prepared().request) && !is_synchronized;
  if (!may_repeat || !data.context->RetainInputs(slot, data.options->memory_limit_bytes != 0).ok()) slot.inputs.clear();
  ticket.number = slot.number = ++caller.submit_count;
  return ticket;
}

// Waits for the outputs, and reads the states if no later run is in flight.
Status FinishSlot(SessionData& data, size_t index) {
  CallerState& caller = data.context->caller();
  RunSlot& slot = caller.slots[index];
  if (slot.is_done) return Status::Ok();
  HEARTH_TRY(data.context->runs().Finish({SlotKind::kInFlight, index}, data.context->OutputsOf(slot)));
  const bool is_last =
      std::ranges::none_of(caller.slots, [&](const RunSlot& other) { return &other != &slot && other.is_in_flight(); });
  if (is_last) return RetainStates(data);
  ++caller.runs_since_retained;
  return Status::Ok();
}

// As numbers, because the spans may be null, whatever their sizes.
bool AnyOverlap(const InputSpans& some, const InputSpans& others) {
  const auto begin = [](std::span<const std::byte> span) { return reinterpret_cast<uintptr_t>(span.data()); };
  return std::ranges::any_of(others, [&](std::span<const std::byte> other) {
    return std::ranges::any_of(some, [&](std::span<const std::byte> one) {
      return begin(one) < begin(other) + other.size() && begin(other) < begin(one) + one.size();
    });
  });
}

// Runs once and waits. Each attempt calls `run`, on the device that the session then has. `reads_frames`: the host may
// read the frames of the run.
Status RunAndWait(SessionData& data, const Running& running, bool reads_frames, const std::function<Status()>& run) {
  const Stopwatch watch;
  BeginRun(data);
  running.control.EndBy(LimitOf(data));
  const auto run_and_retain = [&]() -> Status {
    Status status;
    if (RunWithoutBadEntries(data.context, {run, &running.control}, status)) ShowContext(data);
    HEARTH_TRY(status);
    return RetainStates(data);
  };
  const Status finished = RunOnAUsableDevice(data, {run_and_retain, &running.control, reads_frames});
  EndRun(data, watch.milliseconds());
  HEARTH_TRY(finished);
  NoteFinishedRun(data, watch.milliseconds());
  return Status::Ok();
}

Status RunOnOwnMemory(SessionData& data, const Running& running) {
  const FrameReading reading(data);
  HEARTH_TRY(reading.status());
  HEARTH_TRY(RunAndWait(data, running, true, [&]() -> Status {
    HEARTH_TRY(PlaceFrames(data));
    if (running.profile != nullptr) running.profile->clear();
    RunContext& context = *data.context;
    return context.runs().Run(context.OwnInputs(), context.OwnOutputs(), {{}, running.profile, &running.control});
  }));
  data.context->caller().shows_run = true;
  return Status::Ok();
}

// Without frames and other bindings.
Status RunOnMemory(SessionData& data, std::span<const std::span<const std::byte>> inputs,
                   std::span<const std::span<std::byte>> outputs, const Running& running) {
  HEARTH_TRY(CheckHasDevice(data));
  RunContext& context = *data.context;
  std::vector<std::vector<std::byte>> copies;
  InputSpans given(inputs.begin(), inputs.end());
  const bool may_move = HasNextDevice(context.prepared().request) || data.hot.device != nullptr || !context.has_run();
  // A move releases the memory of outputs that the caller sees, and repeats the run.
  InputSpans changing(outputs.begin(), outputs.end());
  for (size_t k = 0; k < context.caller().outputs.size(); ++k) changing.push_back(context.output(k));
  context.KeepVisibleOutputs();
  if (may_move && AnyOverlap(given, changing)) {
    for (const std::span<const std::byte> input : inputs) copies.emplace_back(input.begin(), input.end());
    given.assign(copies.begin(), copies.end());
  }
  return RunAndWait(data, running, false, [&]() -> Status {
    HEARTH_TRY(data.context->DropFrames());
    if (running.profile != nullptr) running.profile->clear();
    return data.context->runs().Run(given, outputs, {{}, running.profile, &running.control});
  });
}

Status WaitForRun(SessionData& data, uint64_t number) {
  const std::vector<RunSlot>& slots = data.context->caller().slots;
  const auto found = std::ranges::find(slots, number, &RunSlot::number);
  if (number == 0 || found == slots.end())
    return Error(StatusCode::kInvalidArgument, "run {} was never submitted, or has been waited for already", number);
  const auto index = static_cast<size_t>(found - slots.begin());
  const Status finished = RunOnAUsableDevice(data, {[&] { return FinishSlot(data, index); }});
  CallerState& caller = data.context->caller();
  RunSlot& slot = caller.slots[index];
  slot.number = 0;
  for (RetainedInput& input : slot.inputs) {
    // The memory is the program's again.
    if (std::holds_alternative<std::shared_ptr<ExternalFrame>>(input)) input = std::monostate();
  }
  HEARTH_TRY(finished);
  data.context->KeepVisibleOutputs();
  for (size_t k = 0; k < caller.outputs.size(); ++k) caller.outputs[k].bytes.swap(slot.outputs[k]);
  caller.shows_run = true;
  NoteFinishedRun(data, data.since_asked.milliseconds() - slot.submitted_at_ms);
  return data.context->WriteBorrowedMemory();
}

// Runs on the memory that SetInput, BindInput and BindOutput set.
Status RunOnNamedMemory(SessionData& data, const Running& running) {
  HEARTH_TRY(CheckHasDevice(data));
  if (data.context->NeedsSlot()) {
    HEARTH_ASSIGN(const Ticket ticket, SubmitRun(data, {}, running));
    return WaitForRun(data, ticket.number);
  }
  HEARTH_TRY(data.context->CheckInputsAreSet());
  HEARTH_TRY(data.context->ReadBorrowedMemory());
  HEARTH_TRY(RunOnOwnMemory(data, running));
  return data.context->WriteBorrowedMemory();
}

template <typename Run>
Result<std::vector<ProfileEntry>> Profiled(SessionData* session, const Run& run) {
  RunControl control;
  std::vector<ProfileRow> rows;
  HEARTH_TRY(InCall(session, [&](auto& data) { return run(data, Running{control, &rows}); }));
  std::vector<ProfileEntry> entries;
  for (const ProfileRow& row : rows) entries.push_back({row.label, row.kernel, row.milliseconds});
  return entries;
}

Status SetInput(SessionData& data, size_t index, std::span<const std::byte> bytes) {
  std::vector<InputState>& own = data.context->caller().inputs;
  if (index >= own.size())
    return Error(StatusCode::kInvalidArgument, "the model has {} inputs; there is no input {}", own.size(), index);
  const std::string& name = data.context->model().inputs()[index].name;
  if (bytes.data() == nullptr && !bytes.empty())
    return Error(StatusCode::kInvalidArgument, "the bytes for input '{}' are a null pointer", name);
  if (bytes.size() != own[index].bytes.size()) {
    return Error(StatusCode::kInvalidArgument, "input '{}' takes {} bytes, {} were given", name,
                 own[index].bytes.size(), bytes.size());
  }
  std::copy(bytes.begin(), bytes.end(), own[index].bytes.begin());
  own[index].is_set = true;
  return Status::Ok();
}

}  // namespace

Result<Ticket> SubmitUnder(SessionData* session, const SubmitOptions& options, RunControl& control) {
  return InCall(session, [&](auto& data) { return SubmitRun(data, options, {control}); });
}

Status RunUnder(SessionData* session, RunControl& control) {
  return InCall(session, [&](auto& data) { return RunOnNamedMemory(data, {control}); });
}

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
  return InCall(data_.get(), [&](auto& data) { return hearth::SetInput(data, index, bytes); });
}

Status Session::SetInput(std::string_view name, std::span<const std::byte> bytes) {
  return InCall(data_.get(), [&](auto& data) -> Status {
    HEARTH_ASSIGN(const size_t index, IndexOf(inputs(), name, "input"));
    return hearth::SetInput(data, index, bytes);
  });
}

Status Session::Resize(const std::map<std::string, std::vector<int32_t>>& shapes) {
  return InCall(data_.get(), [&](auto& data) { return ResizeSession(data, shapes); });
}

Status Session::ResizeBatch(int32_t batch) {
  return InCall(data_.get(), [&](auto& data) { return ResizeBatchOf(data, batch); });
}

Status Session::Run() {
  RunControl control;
  return RunUnder(data_.get(), control);
}

Status Session::Run(std::span<const std::span<const std::byte>> inputs, std::span<const std::span<std::byte>> outputs) {
  RunControl control;
  return InCall(data_.get(), [&](auto& data) { return RunOnMemory(data, inputs, outputs, {control}); });
}

Result<Ticket> Session::Submit(const SubmitOptions& options) {
  RunControl control;
  return SubmitUnder(data_.get(), options, control);
}

Status Session::Wait(const Ticket& ticket) {
  return InCall(data_.get(), [&](auto& data) { return WaitForRun(data, ticket.number); });
}

Result<std::vector<ProfileEntry>> Session::RunProfiled() {
  return Profiled(data_.get(), RunOnNamedMemory);
}

Result<std::vector<ProfileEntry>> Session::RunProfiled(std::span<const std::span<const std::byte>> inputs,
                                                       std::span<const std::span<std::byte>> outputs) {
  return Profiled(data_.get(), [&](SessionData& data, const Running& running) {
    return RunOnMemory(data, inputs, outputs, running);
  });
}

Status Session::ResetState() {
  return InCall(data_.get(), [](auto& data) {
    data.context->caller().retained_states.clear();
    return RunOnAUsableDevice(data, {[&data] { return data.context->runs().ResetState(); }});
  });
}

Status Session::CheckOutput(size_t index, std::string_view type) const {
  HEARTH_TRY(CheckElements(outputs(), index, "output", type));
  if (data_->context->caller().shows_run) return Status::Ok();
  return Error(StatusCode::kInvalidArgument, "the session has not run with these shapes: there is no output '{}' yet",
               outputs()[index].name);
}

std::span<const std::byte> Session::output(size_t index) const {
  if (index >= outputs().size()) return {};
  return data_->context->output(index);
}

}  // namespace hearth
