// Tuning results in the cache: an entry for each layer, so that networks share layers.
#ifndef HEARTH_FRONTENDS_ENGINE_TUNING_CACHE_H_
#define HEARTH_FRONTENDS_ENGINE_TUNING_CACHE_H_

#include <optional>
#include <string_view>

#include "core/base/blob_store.h"
#include "core/device/device_info.h"
#include "core/plan/tuning.h"

namespace hearth {

// Covers the device, its driver, the sources of kernels and emitter, and the layer (LayerKey). Without a layer: the
// common prefix of all such keys.
CacheKey TuningKey(const DeviceInfo& info, std::string_view layer = {});

// The local records of all layers of all networks, those measured here before others'; unreadable ones are rejected.
TuningRecords StoredTuning(const DeviceInfo& info, BlobStore& store);
// The record of one layer; also asks a server.
std::optional<TuningRecord> StoredTuning(const DeviceInfo& info, std::string_view layer, BlobStore& store);

// Adds `records` to what was measured here of the same layers; they replace what others measured. `cost_ms`: the time
// that measuring all took.
void StoreTuning(const DeviceInfo& info, const TuningRecords& records, double cost_ms, BlobStore& store);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_ENGINE_TUNING_CACHE_H_
