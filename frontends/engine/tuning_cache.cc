#include "frontends/engine/tuning_cache.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cache/entry_origin.h"
#include "core/base/text.h"
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
std::map<std::string, FoundRecord, std::less<>> FindRecords(const DeviceInfo& info, BlobStore& store) {
  std::map<std::string, FoundRecord, std::less<>> records;
  std::vector<std::pair<CacheKey, std::string>> broken;
  store.ForEach(TuningKey(info), [&](const CacheKey& key, std::span<const std::byte> bytes) {
    Result<TuningRecord> record = TuningRecordFromText(TextFrom(bytes));
    if (!record.ok()) {
      broken.emplace_back(key, record.status().message());
      return;
    }
    FoundRecord found{std::move(record).value(), IsMadeHere(&store, key, bytes)};
    FoundRecord& known = records[LayerOf(key)];
    if (IsBetter(found, known)) known = std::move(found);
  });
  for (const auto& [key, why] : broken) store.Reject(key, why);
  records.erase("");
  return records;
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
  for (auto& [layer, found] : FindRecords(info, store)) records.emplace(layer, std::move(found.record));
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
  const auto stored = FindRecords(info, store);
  for (const auto& [layer, record] : records) {
    // Another process may have measured the same layer meanwhile. What others measured is replaced, not added: an entry
    // has one origin, by which revocations find it and by which it is signed here or not.
    const auto known = stored.find(layer);
    const bool is_added = known != stored.end() && known->second.is_made_here;
    keys.push_back(TuningKey(info, layer));
    texts.push_back(ToText(is_added ? Merged(known->second.record, record) : record));
  }
  std::vector<PutRequest> requests;
  for (size_t k = 0; k < keys.size(); ++k) {
    requests.push_back({&keys[k], BytesOf(texts[k]), cost_ms / static_cast<double>(keys.size())});
  }
  if (!requests.empty()) store.Put(requests);
}

}  // namespace hearth
