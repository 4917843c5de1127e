#include "runtime/plans/tuned_start.h"

#include "core/base/error.h"
#include "hal/device/stopwatch.h"
#include "runtime/plans/tuning_cache.h"

namespace hearth {
namespace {

// Looks up layers that the local table lacks: a server may have them.
void AskForLayers(const Graph& graph, const DeviceInfo& info, const LowerOptions& options, ResultCache& cache,
                  TuningTable& tuned) {
  for (const TunableLayer& layer : TunableLayers(graph, info, options)) {
    if (tuned.contains(layer.key)) continue;
    const std::optional<TuningRecord> record = StoredTuning(info, layer.key, cache);
    if (record) tuned.merge(TableOf({{layer.key, *record}}));
  }
}

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
  if (request.store != nullptr) AskForLayers(graph, info, plan_request.options, *request.store, tuned);
  const TuningRecords records = Tune(graph, info, plan_request.options, outcome.mode, *clock, counting);
  for (const auto& [layer, choice] : TableOf(records)) tuned.insert_or_assign(layer, choice);
  outcome.measuring_ms = watch.milliseconds();
  if (request.store != nullptr) StoreTuning(info, records, outcome.measuring_ms, *request.store);
  return Status::Ok();
}

}  // namespace

Result<TuningOutcome> TuneBeforePlan(const TuningRequest& request, PlanRequest& plan_request) {
  TuningOutcome outcome;
  const std::optional<TuneMode> mode = TuneModeFromName(request.mode);
  if (!mode) {
    return Error(StatusCode::kInvalidArgument, "there is no tuning mode '{}'; there are off, fast and full",
                 request.mode);
  }
  outcome.mode = *mode;
  if (request.device->info().is_host()) return outcome;
  if (request.store != nullptr) {
    plan_request.options.tuned = TableOf(StoredTuning(request.device->info(), *request.store));
  }
  if (*mode != TuneMode::kOff) HEARTH_TRY(Measure(request, plan_request, outcome));
  outcome.recorded = static_cast<int>(plan_request.options.tuned.size());
  return outcome;
}

}  // namespace hearth
