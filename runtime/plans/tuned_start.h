// Tuning during a start: before the plan is made, records are read from the cache and missing layers are measured.
#ifndef HEARTH_RUNTIME_PLANS_TUNED_START_H_
#define HEARTH_RUNTIME_PLANS_TUNED_START_H_

#include <stop_token>
#include <string>

#include "core/store/result_cache.h"
#include "runtime/plans/plan_cache.h"
#include "runtime/plans/tuner.h"

namespace hearth {

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

// Sets `plan_request.options.tuned`. kInvalidArgument for a mode that does not exist.
Result<TuningOutcome> TuneBeforePlan(const TuningRequest& request, PlanRequest& plan_request);

}  // namespace hearth

#endif  // HEARTH_RUNTIME_PLANS_TUNED_START_H_
