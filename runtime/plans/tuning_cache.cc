#include "runtime/plans/tuning_cache.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/text.h"
#include "hal/device/stopwatch.h"

namespace hearth {
namespace {

struct FoundRecord {
  TuningRecord record;
  bool is_made_here = false;
};

// What was measured here comes first, then what has more samples: the layers and the writable store may both have a
// record.
bool IsBetter(const FoundRecord& one, const FoundRecord& other) {
  const int64_t samples = one.record.samples(), others = other.record.samples();
  if (samples == 0 || others == 0 || one.is_made_here == other.is_made_here) return samples > others;
  return one.is_made_here;
}

// By layer.
std::map<std::string, FoundRecord, std::less<>> FindRecords(const DeviceInfo& info, ResultCache& cache) {
  std::map<std::string, FoundRecord, std::less<>> records;
  cache.Visit(TunedLayerRequest{&info}, [&](const StoredEntry& entry) -> Status {
    HEARTH_ASSIGN(TuningRecord record, TuningRecordFromText(TextFrom(entry.bytes)));
    HEARTH_ASSIGN(const CacheKeyFields fields, DecodeKeyMaterial(entry.key.material()));
    FoundRecord found{std::move(record), entry.is_made_here};
    FoundRecord& known = records[std::string(ValueOf(fields, kLayerField.name))];
    if (IsBetter(found, known)) known = std::move(found);
    return Status::Ok();
  });
  records.erase("");
  return records;
}

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
  const TuneObserver counting = [&](const TuningProgress& progress) {
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

TuningRecords StoredTuning(const DeviceInfo& info, ResultCache& cache) {
  TuningRecords records;
  for (auto& [layer, found] : FindRecords(info, cache)) records.emplace(layer, std::move(found.record));
  return records;
}

std::optional<TuningRecord> StoredTuning(const DeviceInfo& info, std::string_view layer, ResultCache& cache) {
  const auto parse = [](const StoredEntry& entry) { return TuningRecordFromText(TextFrom(entry.bytes)); };
  auto found = cache.Find(TunedLayerRequest{.device = &info, .layer = std::string(layer)}, parse);
  return found ? std::optional(std::move(found->value)) : std::nullopt;
}

void StoreTuning(const DeviceInfo& info, const TuningRecords& records, double cost_ms, ResultCache& cache) {
  const auto stored = FindRecords(info, cache);
  const PutBatch batch(&cache);
  for (const auto& [layer, record] : records) {
    // Another process may have measured the same layer meanwhile. What others measured is replaced, not added: an entry
    // has one origin, by which revocations find it and by which it is signed here or not.
    const auto known = stored.find(layer);
    const bool is_added = known != stored.end() && known->second.is_made_here;
    const std::string text = ToText(is_added ? Merged(known->second.record, record) : record);
    cache.Put(TunedLayerRequest{.device = &info, .layer = layer}, BytesOf(text),
              cost_ms / static_cast<double>(records.size()));
  }
}

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
