// What tuning found on a device, kept in the cache: one record for all layers of all networks, so that networks with
// the same layer share it, and an update adds to what is there.
#ifndef HEARTH_FRONTENDS_ENGINE_TUNING_CACHE_H_
#define HEARTH_FRONTENDS_ENGINE_TUNING_CACHE_H_

#include <optional>

#include "core/base/blob_store.h"
#include "core/device/device_info.h"
#include "core/device/kernel_choice.h"

namespace hearth {

// Covers the device, its driver, and the versions of kernels and emitter that were measured.
CacheKey TuningKey(const DeviceInfo& info);

// Nothing where there is no record; one that can't be read is rejected.
std::optional<TuningTable> StoredTuning(const DeviceInfo& info, BlobStore& store);

// Adds `winners` to the record, over what it held for the same layers; `cost_ms` is what measuring took. An empty
// record is stored too: a start then finds that nothing was tuned.
void StoreTuning(const DeviceInfo& info, const TuningTable& winners, double cost_ms, BlobStore& store);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_ENGINE_TUNING_CACHE_H_
