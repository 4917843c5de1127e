// A bundle's file as a read-only store. It returns bytes at the places and sizes of the manifest; its user checks the
// bytes (layer.cc).
#ifndef HEARTH_CACHE_BUNDLE_FILE_STORE_H_
#define HEARTH_CACHE_BUNDLE_FILE_STORE_H_

#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cache/bundle_file.h"
#include "core/base/blob_store.h"

namespace hearth {

class BundleFileStore final : public BlobStore {
 public:
  // Precondition: `file` has located the entries of `manifest`.
  BundleFileStore(BundleFile file, const Manifest& manifest);

  using BlobStore::Get;
  bool Get(const CacheKey& key, const Destination& destination) override;
  void ForEach(const CacheKey& common, const Visitor& visit) override;
  void Put(std::span<const PutRequest>) override {}
  void Reject(const CacheKey& key, std::string_view reason) override;
  void BeginUse(const CacheKey&) override {}
  void EndUse(const CacheKey&) override {}
  StoreCounters counters() const override;
  std::vector<std::string> TakeWarnings() override;

 private:
  struct Entry {
    size_t number = 0;  // index in the manifest
    BlobKind kind = BlobKind::kPlan;
    uint64_t size_bytes = 0;
    double cost_ms = 0;
  };
  bool IsHidden(const Fingerprint& digest) const;
  bool Read(const Fingerprint& digest, const Entry& entry, std::span<std::byte> bytes);
  std::optional<CacheKey> KeyOf(const Entry& entry);
  void Warn(const Status& status);

  BundleFile file_;
  std::map<Fingerprint, Entry> entries_;
  mutable std::mutex mutex_;  // guards the members below
  std::set<Fingerprint> hidden_;
  StoreCounters counters_;
  std::string warning_;
  bool has_warned_ = false;
};

}  // namespace hearth

#endif  // HEARTH_CACHE_BUNDLE_FILE_STORE_H_
