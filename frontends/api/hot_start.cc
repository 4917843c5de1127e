#include "frontends/api/hot_start.h"

#include <algorithm>
#include <utility>

#include "core/base/background_work.h"
#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/base/median.h"
#include "frontends/api/device_behind.h"
#include "frontends/api/next_device.h"
#include "frontends/engine/device_names.h"
#include "frontends/engine/tuning_cache.h"

namespace hearth {
namespace {

using State = DeviceBehind::State;

constexpr const char* kMoveVariable = "HEARTH_HOT_MOVE";

// The number of the CPU's last runs that are compared with the device's. The first run, on cold memory, is left out.
constexpr size_t kFewestRuns = 3, kMostRuns = 9;

// A session whose shapes change so often may never get its device.
constexpr int kManyRestarts = 3;

bool IsCpu(const std::string& wanted) {
  const Result<std::string> name = NormalizedDeviceName(wanted);
  return name.ok() && *name == "cpu";
}

// Whether the cache has the plan that this start would make, and may have its programs.
Result<bool> IsWarm(SessionData& data) {
  const bool keeps_programs = data.opened.device == nullptr || data.opened.device->takes_binaries();
  if (data.store == nullptr || !keeps_programs) return false;
  HEARTH_TRY(RequestPlan(data));
  data.plan_request.options.tuned = TableOf(StoredTuning(data.opened.info, *data.store));
  return HasPlan(data.plan_request, *data.store);
}

bool MovesWhenReady() {
  return EnvironmentVariable(kMoveVariable) == "ready";
}

std::string ReasonOfAReadyStart(const SessionData& data) {
  if (data.options.start == "ready") return "asked for";
  if (data.opened.device == nullptr) return "the CPU is the device";
  if (!IsAutoDevice(data.options.device)) return "a named device starts ready";
  return data.options.shared.index() != 0 ? "the program's own context starts ready" : "its plan is in the cache";
}

std::string ReadyText(const DeviceBehind& behind) {
  std::string text = fmt::format("{} was ready after {:.0f} ms", behind.next().opened.id, behind.ready_ms());
  if (behind.run_ms() > 0) text += fmt::format(" and takes {:.2f} ms a run", behind.run_ms());
  return text;
}

// Runs in flight on the CPU were already computed by Submit.
Status FinishRunsInFlight(SessionData& data) {
  for (size_t k = 0; k < data.slots.size(); ++k) {
    RunSlot& slot = data.slots[k];
    if (slot.number == 0 || slot.is_done) continue;
    const std::vector<std::span<std::byte>> outputs(slot.outputs.begin(), slot.outputs.end());
    HEARTH_TRY(data.runner->Finish(k, outputs));
    slot.is_done = true;
  }
  return Status::Ok();
}

Status MoveTo(SessionData& data, SessionData& next) {
  HEARTH_TRY(FinishRunsInFlight(data));
  HEARTH_ASSIGN(std::vector<StateContent> states, data.runner->ReadStates());
  HEARTH_TRY(TakeOver(data, next, states));
  data.kept_states = std::move(states);
  data.runs_since_kept = 0;
  return Status::Ok();
}

void NoteFailure(SessionData& data, const Status& failure) {
  data.report.start.reason = failure.message();
  data.report.start.is_settled = true;
  data.report.warnings.push_back(
      fmt::format("the device is not used, and the CPU continues to answer: {}", failure.message()));
}

void Move(SessionData& data, std::string reason) {
  data.report.memory.both_live_bytes = data.report.memory.needed_bytes + data.behind->next().report.memory.needed_bytes;
  // The CPU's side, weights included, is freed at the end of this scope.
  const std::unique_ptr<SessionData> next = data.behind->Take();
  data.behind.reset();
  const Status status = MoveTo(data, *next);
  if (!status.ok()) return NoteFailure(data, status);
  data.report.start.reason = std::move(reason);
  data.report.start.is_settled = true;
}

void MoveIfFaster(SessionData& data) {
  const std::string ready = ReadyText(*data.behind);
  if (data.behind->next().move_rule == MoveRule::kWhenReady) return Move(data, ready + ": asked to move then");
  if (data.cpu_ms.size() < kFewestRuns) return;
  const double cpu_ms = Median(data.cpu_ms);
  if (data.behind->run_ms() < cpu_ms) return Move(data, fmt::format("{}, the CPU {:.2f}", ready, cpu_ms));
  data.report.start.reason = fmt::format("{}, the CPU {:.2f}: it stays on the CPU", ready, cpu_ms);
  data.report.start.is_settled = true;
  data.behind->Dismiss();
}

}  // namespace

Status CheckStart(const SessionOptions& options) {
  if (!options.start.empty() && options.start != "ready" && options.start != "hot")
    return Error(StatusCode::kInvalidArgument, "there is no start '{}'; there are ready and hot", options.start);
  if (options.start != "hot" || options.shared.index() == 0) return Status::Ok();
  return Error(StatusCode::kUnsupported,
               "a session in the program's own context can't start hot: its device would be used on another thread; "
               "start it ready");
}

bool IsAskedHot(const SessionOptions& options) {
  return options.start == "hot" && !IsCpu(options.device);
}

Result<std::unique_ptr<SessionData>> ChooseStart(SessionData& data) {
  auto& start = data.report.start;
  bool is_hot = IsAskedHot(data.options);
  const bool may_choose = data.options.start.empty() && data.options.shared.index() == 0 &&
                          data.options.simulate.empty() && IsAutoDevice(data.options.device);
  if (!is_hot && may_choose && data.opened.device != nullptr) {
    HEARTH_ASSIGN(const bool is_warm, IsWarm(data));
    is_hot = !is_warm;
  }
  if (!is_hot) {
    start.reason = ReasonOfAReadyStart(data);
    return std::unique_ptr<SessionData>();
  }
  std::unique_ptr<SessionData> next = DataBeside(data);
  start.mode = "hot";
  start.is_settled = false;
  if (data.opened.device != nullptr) {
    next->opened = std::move(data.opened);
    HEARTH_ASSIGN(data.opened, OpenChosenDevice("cpu"));
  }
  data.opened.reason = "answers while another device is made ready";
  return next;
}

void BeginBehind(SessionData& data, std::unique_ptr<SessionData> next) {
  next->since_asked = data.since_asked;
  next->move_rule = MovesWhenReady() ? MoveRule::kWhenReady : data.move_rule;
  next->report.start.mode = "hot";
  // The memory of both sessions is in use until the session has moved.
  uint64_t& left = next->options.memory_limit_bytes;
  if (left != 0) left = std::max<uint64_t>(1, left - std::min(left, data.report.memory.needed_bytes));
  data.behind = std::make_unique<DeviceBehind>(std::move(next));
}

void RestartBehind(SessionData& data) {
  if (data.behind == nullptr || data.report.start.is_settled || data.behind->state() == State::kGivenUp) return;
  SaveBehind(data);
  data.behind.reset();
  data.cpu_ms.clear();
  ++data.restarts_behind;
  BeginBehind(data, DataBeside(data));
}

void BeginRun(SessionData& data) {
  if (++data.run_count == 1) data.report.start.first_by = data.opened.id;
  if (data.behind == nullptr) return;
  const State state = data.behind->state();
  // Such a run has fewer threads and takes longer than the CPU's runs usually do.
  data.is_slowed = state == State::kPreparing && BackgroundWork::Threads() > 0;
  if (state == State::kReady) MoveIfFaster(data);
  if (data.behind != nullptr) data.behind->NoteRunBegins();
}

void EndRun(SessionData& data, double milliseconds) {
  if (data.behind == nullptr) return;
  data.behind->NoteRunEnds();
  if (data.run_count <= 1 || data.is_slowed) return;
  if (data.cpu_ms.size() == kMostRuns) data.cpu_ms.erase(data.cpu_ms.begin());
  data.cpu_ms.push_back(milliseconds);
}

void NoteBehind(SessionData& data) {
  auto& start = data.report.start;
  if (data.behind == nullptr || start.is_settled) return;
  switch (data.behind->state()) {
    case State::kPreparing:
      start.reason = fmt::format("'{}' is being prepared while the CPU answers", data.options.device);
      if (data.restarts_behind >= kManyRestarts) {
        start.reason +=
            fmt::format("; it began again {} times because shapes changed: start it ready", data.restarts_behind);
      }
      break;
    case State::kReady: start.reason = ReadyText(*data.behind) + "; the CPU's runs are too few to compare"; break;
    case State::kGivenUp: NoteFailure(data, data.behind->failure()); break;
  }
}

Status WithHotHint(const SessionData& data, const Status& status) {
  if (status.code() != StatusCode::kUnsupported || data.behind == nullptr) return status;
  return Error(status.code(),
               "{}; the session started hot and the CPU answers so far: start it ready, or wait until it has moved",
               status.message());
}

Status WaitForBehind(SessionData& data) {
  if (data.behind == nullptr) return Status::Ok();
  data.behind->Wait();
  NoteBehind(data);
  return data.behind->failure();
}

void SaveBehind(SessionData& data) {
  if (data.behind != nullptr && data.behind->state() == State::kReady) data.behind->Save();
}

}  // namespace hearth
