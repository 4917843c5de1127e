#include "runtime/session/hot_start.h"

#include <algorithm>
#include <utility>

#include "backends/cpu/host/process_limits.h"
#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/base/numbers.h"
#include "runtime/devices/device_names.h"
#include "runtime/plans/tuning_cache.h"
#include "runtime/session/memory_need.h"
#include "runtime/session/move.h"

namespace hearth {
namespace {

using State = BackgroundDevice::State;

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
Result<bool> IsWarm(const PrepareRequest& request) {
  if (request.cache == nullptr || !request.device->opened.device->takes_binaries()) return false;
  DeviceInfo info = request.device->opened.info;
  HEARTH_ASSIGN(PlanRequest plan, RequestPlan(request, info));
  ResultCache& store = *request.cache->store;
  plan.options.tuned = TableOf(StoredTuning(info, store));
  return HasPlan(plan, store);
}

std::string ReasonOfAReadyStart(const SessionOptions& options, const DeviceInfo& info) {
  if (options.start == "ready") return "asked for";
  if (info.is_host()) return "the CPU is the device";
  if (!IsAutoDevice(options.device)) return "a named device starts ready";
  return options.shared.index() != 0 ? "the program's own context starts ready" : "its plan is in the cache";
}

std::string ReadyText(const BackgroundDevice& device) {
  const BackgroundDevice::Progress progress = device.progress();
  std::string text =
      fmt::format("{} was ready after {:.0f} ms", device.next().prepared().report.device.id, progress.ready_ms);
  if (progress.run_ms > 0) text += fmt::format(" and takes {:.2f} ms a run", progress.run_ms);
  return text;
}

void NoteFailure(SessionData& data, const Status& failure) {
  data.report.start.reason = failure.message();
  data.report.start.is_settled = true;
  data.report.warnings.push_back(
      fmt::format("the device is not used, and the CPU continues to answer: {}", failure.message()));
}

Status MoveToDevice(SessionData& data, std::unique_ptr<RunContext> next) {
  HEARTH_TRY(data.context->FinishRunsInFlight());
  HEARTH_ASSIGN(std::vector<StateContent> states, data.context->runs().ReadStates());
  HEARTH_TRY(MoveTo(data.context, std::move(next), states));
  data.context->caller().retained_states = std::move(states);
  data.context->caller().runs_since_retained = 0;
  data.earlier_shapes.clear();  // on the CPU
  ShowContext(data);
  NoteMove(data);
  return Status::Ok();
}

void Move(SessionData& data, std::string reason) {
  data.report.memory.both_live_bytes = NeededBytes(data) + data.hot.device->next().prepared().needed_bytes;
  // The CPU's side, weights included, is freed by the move.
  std::unique_ptr<RunContext> next = data.hot.device->Take();
  data.hot.device.reset();
  const Status status = MoveToDevice(data, std::move(next));
  if (!status.ok()) return NoteFailure(data, status);
  data.report.start.reason = std::move(reason);
  data.report.start.is_settled = true;
}

void MoveIfFaster(SessionData& data) {
  BackgroundDevice& device = *data.hot.device;
  const std::string ready = ReadyText(device);
  if (device.rule() == MoveRule::kWhenReady) return Move(data, ready + ": asked to move then");
  if (data.hot.cpu_ms.size() < kFewestRuns) return;
  const double cpu_ms = Median(data.hot.cpu_ms);
  if (device.progress().run_ms < cpu_ms) return Move(data, fmt::format("{}, the CPU {:.2f}", ready, cpu_ms));
  data.report.start.reason = fmt::format("{}, the CPU {:.2f}: it stays on the CPU", ready, cpu_ms);
  data.report.start.is_settled = true;
  device.Dismiss();
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

Result<bool> ChooseHotStart(SessionData& data, const PrepareRequest& request) {
  const SessionOptions& options = *data.options;
  const DeviceInfo& info = request.device->opened.info;
  bool is_hot = IsAskedHot(options);
  const bool may_choose =
      options.start.empty() && options.shared.index() == 0 && options.simulate.empty() && IsAutoDevice(options.device);
  if (!is_hot && may_choose && !info.is_host()) {
    HEARTH_ASSIGN(const bool is_warm, IsWarm(request));
    is_hot = !is_warm;
  }
  auto& start = data.report.start;
  start.mode = is_hot ? "hot" : "ready";
  start.is_settled = !is_hot;
  if (!is_hot) start.reason = ReasonOfAReadyStart(options, info);
  return is_hot;
}

void BeginBackground(SessionData& data, std::shared_ptr<SessionDevice> device) {
  // The memory of both is in use until the session has moved.
  PrepareRequest request = SuccessorOf(data.context->prepared().request, std::move(device),
                                       LeftOfLimit(data.options->memory_limit_bytes, NeededBytes(data)));
  // Half of the CPUs: then the device is ready after at most about twice the time of a normal start.
  request.compile_threads = std::max(1, UsableCpus() / 2);
  const bool moves_when_ready = EnvironmentVariable(kMoveVariable) == "ready";
  data.hot.device = std::make_shared<BackgroundDevice>(
      BackgroundDevice::Request{.prepare = std::move(request),
                                .open = [options = data.options, backends = data.request->backends](
                                            const std::stop_token&) { return OpenAskedDevice(*options, backends); },
                                .backends = data.request->backends,
                                .threads = data.context->prepared().request.device->host->background_threads(),
                                .rule = moves_when_ready ? MoveRule::kWhenReady : data.request->move_rule,
                                .since_asked = data.since_asked});
}

void RestartBackground(SessionData& data) {
  HotStart& hot = data.hot;
  if (hot.device == nullptr || data.report.start.is_settled || hot.device->progress().state == State::kGivenUp) return;
  StoreBackground(data);
  hot.device.reset();
  hot.cpu_ms.clear();
  ++hot.restarts;
  BeginBackground(data, nullptr);
}

void BeginRun(SessionData& data) {
  HotStart& hot = data.hot;
  if (++data.run_count == 1) data.report.start.first_by = data.report.device.id;
  if (hot.device == nullptr) return;
  const State state = hot.device->progress().state;
  // Such a run has fewer threads and takes longer than the CPU's runs usually do.
  hot.is_slowed =
      state == State::kPreparing && data.context->prepared().request.device->host->background_threads()->load() > 0;
  if (state == State::kReady) MoveIfFaster(data);
  if (hot.device != nullptr) hot.device->NoteRunBegins();
}

void EndRun(SessionData& data, double milliseconds) {
  HotStart& hot = data.hot;
  if (hot.device == nullptr) return;
  hot.device->NoteRunEnds();
  if (data.run_count <= 1 || hot.is_slowed) return;
  if (hot.cpu_ms.size() == kMostRuns) hot.cpu_ms.erase(hot.cpu_ms.begin());
  hot.cpu_ms.push_back(milliseconds);
}

void NoteBackground(SessionData& data) {
  auto& start = data.report.start;
  const HotStart& hot = data.hot;
  if (hot.device == nullptr || start.is_settled) return;
  switch (hot.device->progress().state) {
    case State::kPreparing:
      start.reason = fmt::format("'{}' is being prepared while the CPU answers", data.options->device);
      if (hot.restarts >= kManyRestarts) {
        start.reason += fmt::format("; it began again {} times because shapes changed: start it ready", hot.restarts);
      }
      break;
    case State::kReady: start.reason = ReadyText(*hot.device) + "; the CPU's runs are too few to compare"; break;
    case State::kGivenUp: NoteFailure(data, hot.device->progress().failure); break;
  }
}

void StoreBackground(SessionData& data) {
  if (data.hot.device == nullptr || data.hot.device->progress().state != State::kReady) return;
  const std::vector<std::string> warnings = data.hot.device->Store();
  data.report.warnings.insert(data.report.warnings.end(), warnings.begin(), warnings.end());
}

Status WithHotHint(const SessionData& data, const Status& status) {
  if (status.code() != StatusCode::kUnsupported || data.hot.device == nullptr) return status;
  return Error(status.code(),
               "{}; the session started hot and the CPU answers so far: start it ready, or wait until it has moved",
               status.message());
}

}  // namespace hearth
