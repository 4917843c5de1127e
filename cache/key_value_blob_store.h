// A BlobStore over anything that keeps bytes under names.
//
// Each value is an envelope with the whole key and a checksum, so a store that mixes up, truncates or damages values
// only causes misses:
//   "HRV1"  u64 material bytes  material  f64 cost_ms  16 bytes XXH3-128 of the blob  blob
// Numbers are little-endian. Names are "<kind>/<digest in hex>".
#ifndef HEARTH_CACHE_KEY_VALUE_BLOB_STORE_H_
#define HEARTH_CACHE_KEY_VALUE_BLOB_STORE_H_

#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "cache/entry_origin.h"
#include "cache/warnings.h"
#include "core/base/blob_store.h"

namespace hearth {

std::string NameInKeyValueStore(const CacheKey& key);

// The content of an envelope; nullopt unless it belongs to `key` and is intact.
struct OpenedEnvelope {
  std::span<const std::byte> blob;  // a part of the envelope
  double cost_ms = 0;               // bounded, whoever wrote it
  Fingerprint checksum;             // of the blob
};
std::vector<std::byte> MakeEnvelope(const PutRequest& request);
std::optional<OpenedEnvelope> OpenEnvelope(const CacheKey& key, std::span<const std::byte> envelope);

class KeyValueBlobStore final : public BlobStore, public KnowsOrigins {
 public:
  // `values` must outlive the store.
  explicit KeyValueBlobStore(KeyValueStore& values) : values_(values) {}

  using BlobStore::Get;
  bool Get(const CacheKey& key, const Destination& destination) override;
  void Put(std::span<const PutRequest> requests) override;
  // Values do not say who made them, so nothing that was read counts as made here.
  std::optional<std::string> OriginOf(const CacheKey& key, std::span<const std::byte> bytes) override;
  void Reject(const CacheKey& key, std::string_view reason) override;
  void BeginUse(const CacheKey&) override {}  // crashes are not remembered
  void EndUse(const CacheKey&) override {}
  StoreCounters counters() const override;
  std::vector<std::string> TakeWarnings() override;

 private:
  KeyValueStore& values_;
  mutable std::mutex mutex_;  // guards the members below
  std::set<Fingerprint> hidden_;
  OriginsOfBytes read_;
  StoreCounters counters_;
  Warnings warnings_;
};

}  // namespace hearth

#endif  // HEARTH_CACHE_KEY_VALUE_BLOB_STORE_H_
