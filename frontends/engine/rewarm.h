// Making programs anew from the plans that the cache holds, without the models: what a driver's update asks for.
#ifndef HEARTH_FRONTENDS_ENGINE_REWARM_H_
#define HEARTH_FRONTENDS_ENGINE_REWARM_H_

#include <string>

#include "core/base/blob_store.h"
#include "hal/device.h"

namespace hearth {

// Why the next start on this device would not use the stored plan with this key, in words that go on after "its plan";
// empty: it would. Empty too for plans of other backends, which IsForBackend tells.
std::string WhyPlanIsStale(const CacheKeyFields& plan, const DeviceInfo& device, BlobStore& store);
bool IsForBackend(const CacheKeyFields& plan, const DeviceInfo& device);

// What a session asks of a device and its driver once: self-test and probe, where the store has no answer yet.
// kUnavailable: the device does not compute.
Status ProveDevice(Device& device, BlobStore& store);

struct RewarmedPlan {
  int compiled = 0, loaded = 0;  // programs
};
// Loads or compiles the programs of the stored plan with this key, runs it once on zeros, weights too, where anything
// was compiled (PoCL generates code only then), and stores what was made. kMalformedInput: the plan is damaged.
Result<RewarmedPlan> RewarmPlan(const CacheKey& plan, Device& device, BlobStore& store, int threads);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_ENGINE_REWARM_H_
