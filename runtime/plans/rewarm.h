// Makes programs again from the plans in the cache, without the models, for use after a driver update.
#ifndef HEARTH_RUNTIME_PLANS_REWARM_H_
#define HEARTH_RUNTIME_PLANS_REWARM_H_

#include <string>

#include "core/store/result_cache.h"
#include "hal/device/device.h"

namespace hearth {

// Why the next start on this device would not use the stored plan with this key, as words that follow "its plan";
// empty: it would. Also empty for plans of other backends (see IsForBackend).
std::string WhyPlanIsStale(const CacheKeyFields& plan, const DeviceInfo& device, ResultCache& cache);
bool IsForBackend(const CacheKeyFields& plan, const DeviceInfo& device);

// Runs what a session runs once per device and driver, self-test and probe, if the cache has no answer yet.
// kUnavailable: the device failed the self-test.
Status ProveDevice(Device& device, ResultCache& cache);

struct RewarmedPlan {
  int compiled = 0, loaded = 0;  // programs
};
// Loads or compiles the programs of the stored plan with this key. If anything was compiled, runs the plan once on
// zeros, also for weights (PoCL generates code only then). Stores the result. kMalformedInput: the plan is damaged;
// kIoError: the programs can't be stored.
Result<RewarmedPlan> RewarmPlan(const CacheKey& plan, Device& device, ResultCache& cache, int threads);

}  // namespace hearth

#endif  // HEARTH_RUNTIME_PLANS_REWARM_H_
