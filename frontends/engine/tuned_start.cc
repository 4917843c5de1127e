#include "frontends/engine/tuned_start.h"

#include "core/base/error.h"
#include "frontends/engine/tuning_cache.h"
#include "hal/stopwatch.h"

namespace hearth {
namespace {

Status Measure(const TuningRequest& request, PlanRequest& plan_request, TuningOutcome& outcome) {
  const Stopwatch watch;
  HEARTH_ASSIGN(const Graph graph, RewrittenGraph(plan_request));
  const std::unique_ptr<LayerClock> clock = MakeDeviceClock(*request.device, request.threads, request.stop);
  const TuneObserver counting = [&](const TuneProgress& progress) {
    if (!progress.layer.empty()) {
      ++outcome.measured;
      outcome.changed += progress.chosen_ms < progress.rule_ms ? 1 : 0;
    }
    if (request.observer) request.observer(progress);
  };
  const DeviceInfo& info = request.device->info();
  TuningTable& tuned = plan_request.options.tuned;
  const TuningTable winners = Tune(graph, info, plan_request.options, outcome.mode, *clock, counting);
  for (const auto& [layer, choice] : winners) tuned.insert_or_assign(layer, choice);
  outcome.measuring_ms = watch.milliseconds();
  if (winners.empty() || request.store == nullptr || request.read_only) return Status::Ok();
  StoreTuning(info, winners, outcome.measuring_ms, *request.store);
  outcome.has_record = true;
  return Status::Ok();
}

}  // namespace

Result<TuningOutcome> TuneBeforePlan(const TuningRequest& request, PlanRequest& plan_request) {
  TuningOutcome outcome;
  const std::optional<TuneMode> mode = TuneModeFromName(request.mode);
  if (!mode) {
    return Error(StatusCode::kInvalidArgument, "no way to tune is called '{}'; there are off, fast and full",
                 request.mode);
  }
  outcome.mode = *mode;
  if (request.device == nullptr) return outcome;
  if (request.store != nullptr) {
    std::optional<TuningTable> stored = StoredTuning(request.device->info(), *request.store);
    outcome.has_record = stored.has_value();
    if (stored) plan_request.options.tuned = *std::move(stored);
  }
  if (*mode != TuneMode::kOff) HEARTH_TRY(Measure(request, plan_request, outcome));
  outcome.recorded = static_cast<int>(plan_request.options.tuned.size());
  return outcome;
}

}  // namespace hearth
