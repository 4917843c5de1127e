#include "runtime/session/move.h"

#include <utility>

#include "core/base/error.h"
#include "runtime/devices/device_choice.h"

namespace hearth {
namespace {

// Each turn rejects what the one before was made from: programs, then the SPIR-V that they were made from again. Not
// until nothing is left, because a server may give the same entries again.
constexpr int kMostRestarts = 3;

// `how` follows the failed device's name in the warning: "could not be made ready".
Result<std::shared_ptr<SessionDevice>> OpenNextDevice(const SessionDevice& failed, std::string_view how,
                                                      const Status& why, std::span<const BackendDef> backends) {
  const std::string& id = failed.opened.id;
  auto next = std::make_shared<SessionDevice>();
  next->host = MakeCpuExecutor(failed.host->background_threads());
  next->failed_ids = failed.failed_ids;
  next->failed_ids.push_back(id);
  HEARTH_ASSIGN(next->opened, OpenChosenDevice("auto", next->failed_ids, backends));
  next->opened.reason = fmt::format("{} {}", id, how);
  std::vector<std::string> warnings = failed.opened.warnings;
  warnings.push_back(fmt::format("{} {}, the next device is taken: {}", id, how, why.message()));
  warnings.insert(warnings.end(), next->opened.warnings.begin(), next->opened.warnings.end());
  next->opened.warnings = std::move(warnings);
  return next;
}

// Rejects the cache entries that a context was made from, and moves to what is made without them. False if there are
// none, or if that fails too.
bool RestartWithoutStored(std::unique_ptr<RunContext>& context, const Status& failure) {
  const Prepared& prepared = context->prepared();
  const bool may_be_its_fault = failure.code() != StatusCode::kInvalidArgument;
  if (prepared.request.cache == nullptr || context->has_run() || !may_be_its_fault) return false;
  const bool has_loaded = context->runs().RejectLoaded(failure.message());
  const std::optional<CacheKey>& plan = prepared.made.found_as;
  if (plan) prepared.request.cache->store->Reject({&*plan, 1}, failure.message());
  if (!has_loaded && !plan) return false;
  PrepareRequest request = prepared.request;
  request.device = std::make_shared<SessionDevice>(*request.device);
  request.device->constants = std::make_shared<ResidentConstants>();
  request.device->programs = std::make_shared<SharedPrograms>();
  request.trusts_stored_plan = false;
  Result<std::unique_ptr<RunContext>> next = PrepareContext(request);
  if (!next.ok()) return false;
  std::vector<StateContent> states = context->caller().retained_states;
  if (Result<std::vector<StateContent>> read = context->runs().ReadStates(); states.empty() && read.ok())
    states = std::move(read).value();
  return MoveTo(context, std::move(next).value(), states).ok();
}

}  // namespace

bool IsTheDevicesFault(const Status& status) {
  const StatusCode code = status.code();
  return code == StatusCode::kUnavailable || code == StatusCode::kDeviceLost || code == StatusCode::kResourceExhausted;
}

bool HasNextDevice(const PrepareRequest& request) {
  const SessionOptions& options = *request.options;
  // A user who simulates a device gets no other one unless next_device asks for it.
  const bool may_take_another = options.next_device || (IsAutoDevice(options.device) && options.simulate.empty());
  return may_take_another && !request.device->opened.info.is_host() && options.shared.index() == 0 &&
         !request.stop.stop_requested();
}

Result<std::shared_ptr<SessionDevice>> OpenAskedDevice(const SessionOptions& options,
                                                       std::span<const BackendDef> backends) {
  auto device = std::make_shared<SessionDevice>();
  if (options.shared.index() != 0) {
    HEARTH_ASSIGN(device->opened, OpenSharedDevice(options.shared, options.device, backends));
    return device;
  }
  const bool is_simulated = !options.simulate.empty();
  Result<OpenedDevice> opened = is_simulated ? OpenSimulatedDevice(options.device, options.simulate)
                                             : OpenChosenDevice(options.device, {}, backends);
  const bool may_take_another = options.next_device && opened.status().code() == StatusCode::kUnavailable;
  if (!opened.ok() && may_take_another && (!IsAutoDevice(options.device) || is_simulated)) {
    const Status why = opened.status();
    opened = OpenChosenDevice("auto", {}, backends);
    HEARTH_TRY(opened.status());
    opened->reason = fmt::format("'{}' is not usable", is_simulated ? options.simulate : options.device);
    opened->warnings.insert(opened->warnings.begin(), fmt::format("the next device is taken: {}", why.message()));
  }
  HEARTH_TRY(opened.status());
  device->opened = std::move(opened).value();
  return device;
}

Result<std::unique_ptr<RunContext>> PrepareContext(const PrepareRequest& request, bool* exceeds_limit) {
  HEARTH_ASSIGN(PreparedRuns made, Prepare(request, exceeds_limit));
  return std::make_unique<RunContext>(std::move(made), request.options->max_in_flight);
}

Result<std::unique_ptr<RunContext>> PrepareOnAUsableDevice(PrepareRequest request,
                                                           std::span<const BackendDef> backends) {
  for (;;) {
    bool exceeds_limit = false;
    Result<std::unique_ptr<RunContext>> made = PrepareContext(request, &exceeds_limit);
    const bool may_do_better = exceeds_limit || IsTheDevicesFault(made.status());
    if (made.ok() || !may_do_better || !HasNextDevice(request)) return made;
    HEARTH_ASSIGN(request.device, OpenNextDevice(*request.device, "could not be made ready", made.status(), backends));
  }
}

Result<std::unique_ptr<RunContext>> PrepareOnTheNextDevice(RunContext& context, const Status& why,
                                                           uint64_t memory_limit_bytes,
                                                           std::span<const BackendDef> backends) {
  PrepareRequest request = context.prepared().request;
  context.CloseDevice();
  HEARTH_ASSIGN(request.device, OpenNextDevice(*request.device, "failed in a run", why, backends));
  request.memory_limit_bytes = memory_limit_bytes;
  request.trusts_stored_plan = true;
  return PrepareOnAUsableDevice(std::move(request), backends);
}

Status MoveTo(std::unique_ptr<RunContext>& context, std::unique_ptr<RunContext> next,
              std::span<const StateContent> states) {
  HEARTH_TRY(next->TakeOver(*context, states));
  context = std::move(next);
  return Status::Ok();
}

bool RunWithoutBadEntries(std::unique_ptr<RunContext>& context, const Attempt& attempt, Status& status) {
  int restarts = 0;
  status = attempt.run();
  while (!status.ok() && restarts < kMostRestarts && !attempt.was_ended() && RestartWithoutStored(context, status)) {
    ++restarts;
    status = attempt.run();
  }
  return restarts > 0;
}

}  // namespace hearth
