#include "frontends/engine/tuning_cache.h"

#include <string>
#include <utility>
#include <vector>

#include "core/base/text_bytes.h"
#include "core/plan/key_fields.h"
#include "core/plan/source_fingerprints.h"

namespace hearth {
namespace {

// The layer in a key that TuningKey made.
std::string LayerOf(const CacheKey& key) {
  const auto fields = DecodeKeyMaterial(key.material());
  if (!fields.ok() || fields->empty() || fields->back().first != kLayerField.name) return {};
  return fields->back().second;
}

}  // namespace

CacheKey TuningKey(const DeviceInfo& info, std::string_view layer) {
  CacheKey key(BlobKind::kTuning);
  key.Add(kTuningSourcesField.name, kTuningSources);
  AddDevice(key, info, DevicePart::kIdentity);
  if (!layer.empty()) key.Add(kLayerField.name, layer);
  return key;
}

TuningRecords StoredTuning(const DeviceInfo& info, BlobStore& store) {
  TuningRecords records;
  std::vector<std::pair<CacheKey, std::string>> broken;
  store.ForEach(TuningKey(info), [&](const CacheKey& key, std::span<const std::byte> bytes) {
    Result<TuningRecord> record = TuningRecordFromText(TextFrom(bytes));
    if (!record.ok()) {
      broken.emplace_back(key, record.status().message());
      return;
    }
    // The layers and the writable store may both have a record: the one with more samples is kept.
    TuningRecord& known = records[LayerOf(key)];
    if (record->samples() > known.samples()) known = std::move(record).value();
  });
  for (const auto& [key, why] : broken) store.Reject(key, why);
  records.erase("");
  return records;
}

std::optional<TuningRecord> StoredTuning(const DeviceInfo& info, std::string_view layer, BlobStore& store) {
  const CacheKey key = TuningKey(info, layer);
  const auto bytes = store.Get(key);
  if (!bytes) return std::nullopt;
  Result<TuningRecord> record = TuningRecordFromText(TextFrom(*bytes));
  if (record.ok()) return std::move(record).value();
  store.Reject(key, record.status().message());
  return std::nullopt;
}

void StoreTuning(const DeviceInfo& info, const TuningRecords& records, double cost_ms, BlobStore& store) {
  std::vector<CacheKey> keys;
  std::vector<std::string> texts;
  const TuningRecords stored = StoredTuning(info, store);
  for (const auto& [layer, record] : records) {
    // Another process may have measured the same layer meanwhile.
    const auto known = stored.find(layer);
    keys.push_back(TuningKey(info, layer));
    texts.push_back(ToText(known == stored.end() ? record : Merged(known->second, record)));
  }
  std::vector<PutRequest> requests;
  for (size_t k = 0; k < keys.size(); ++k) {
    requests.push_back({&keys[k], BytesOf(texts[k]), cost_ms / static_cast<double>(keys.size())});
  }
  if (!requests.empty()) store.Put(requests);
}

}  // namespace hearth
