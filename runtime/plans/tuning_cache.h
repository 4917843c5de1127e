// Tuning results in the cache: an entry for each layer, so that networks share layers.
#ifndef HEARTH_RUNTIME_PLANS_TUNING_CACHE_H_
#define HEARTH_RUNTIME_PLANS_TUNING_CACHE_H_

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "core/device/device_info.h"
#include "core/plan/key_fields.h"
#include "core/plan/source_fingerprints.h"
#include "core/plan/tuning.h"
#include "core/store/result_cache.h"
#include "runtime/plans/plan_cache.h"
#include "runtime/plans/tuner.h"

namespace hearth {

// The times of a layer's kernels on a device and driver. The layer is last: without one, the key is the beginning of
// those of all layers.
struct TunedLayerRequest {
  static constexpr BlobKind kKind = BlobKind::kTuning;
  DeviceIdentity device;
  Field<kTuningSourcesField> sources = std::string(kTuningSources);
  Field<kLayerField> layer;  // LayerKey
};

// The local records of all layers of all networks, those measured here before others'; unreadable ones are rejected.
TuningRecords StoredTuning(const DeviceInfo& info, ResultCache& cache);
// The record of one layer; also asks a server.
std::optional<TuningRecord> StoredTuning(const DeviceInfo& info, std::string_view layer, ResultCache& cache);

// Adds `records` to what was measured here of the same layers; they replace what others measured. `cost_ms`: the time
// that measuring all took.
void StoreTuning(const DeviceInfo& info, const TuningRecords& records, double cost_ms, ResultCache& cache);

// ---- Tuning during a start: records are read from the cache, and missing layers are measured ----

struct TuningRequest {
  std::string mode = "off";  // "off", "fast", "full"
  Device* device = nullptr;  // nothing is tuned on the CPU
  ResultCache* store = nullptr;
  int threads = 1;
  TuneObserver observer;
  std::stop_token stop = {};  // once requested, measuring ends
};

struct TuningOutcome {
  TuneMode mode = TuneMode::kOff;
  int measured = 0, changed = 0, recorded = 0;  // layers: now; of these not by rule; in the record
  double measuring_ms = 0;
};

// Before the plan is made. Sets `plan_request.options.tuned`. kInvalidArgument for a mode that does not exist.
Result<TuningOutcome> TuneBeforePlan(const TuningRequest& request, PlanRequest& plan_request);

}  // namespace hearth

#endif  // HEARTH_RUNTIME_PLANS_TUNING_CACHE_H_
