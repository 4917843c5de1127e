#include "frontends/engine/tuning_cache.h"

#include "core/emit/kernel_library.h"
#include "core/plan/plan.h"
#include "core/plan/tuning.h"

namespace hearth {

CacheKey TuningKey(const DeviceInfo& info) {
  CacheKey key(BlobKind::kTuning);
  key.Add("tuning version", kTuningVersion).Add("plan version", kPlanVersion).Add("emitter", kEmitterVersion);
  key.Add("kernels", FingerprintOfKernels());
  key.Add("backend", info.backend).Add("device", info.name).Add("vendor", info.vendor);
  key.Add("driver", info.driver_version).Add("uuid", info.uuid);
  return key;
}

std::optional<TuningTable> StoredTuning(const DeviceInfo& info, BlobStore& store) {
  const CacheKey key = TuningKey(info);
  const auto bytes = store.Get(key);
  if (!bytes) return std::nullopt;
  Result<TuningTable> table = TuningTableFromText({reinterpret_cast<const char*>(bytes->data()), bytes->size()});
  if (table.ok()) return std::move(table).value();
  store.Reject(key, table.status().message());
  return std::nullopt;
}

void StoreTuning(const DeviceInfo& info, const TuningTable& winners, double cost_ms, BlobStore& store) {
  const CacheKey key = TuningKey(info);
  // Another process may have tuned meanwhile: its layers stay.
  TuningTable table = StoredTuning(info, store).value_or(TuningTable{});
  for (const auto& [layer, choice] : winners) table.insert_or_assign(layer, choice);
  const std::string text = ToText(table);
  const PutRequest put{&key, std::as_bytes(std::span(text)), cost_ms};
  store.Put({&put, 1});
}

}  // namespace hearth
