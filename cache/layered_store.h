// A stack of stores: read-only layers first, then the writable store.
#ifndef HEARTH_CACHE_LAYERED_STORE_H_
#define HEARTH_CACHE_LAYERED_STORE_H_

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "cache/entry_origin.h"
#include "core/base/blob_store.h"

namespace hearth {

// A hit in a layer is not copied into the writable store, because the next start has the layer too. Entries that were
// in use when a process died are not taken from layers again; the writable store remembers them (IsSuspect).
class LayeredStore final : public BlobStore, public KnowsOrigins {
 public:
  // `writable` may be null: nothing is stored then.
  LayeredStore(std::vector<std::unique_ptr<BlobStore>> layers, std::unique_ptr<BlobStore> writable)
      : layers_(std::move(layers)), writable_(std::move(writable)) {}

  using BlobStore::Get;
  bool Get(const CacheKey& key, const Destination& destination) override;
  // Visits layers first. A tuning record in several stores is visited several times.
  void ForEach(const CacheKey& common, const Visitor& visit) override;
  std::string NameOfContent(std::span<const std::byte> bytes, NameUse use) override;
  // What a layer has is stored as the layer's, whoever puts it: it was loaded from there.
  void Put(std::span<const PutRequest> requests) override;
  std::optional<std::string> OriginOf(const CacheKey& key, std::span<const std::byte> bytes) override;
  void Reject(const CacheKey& key, std::string_view reason) override;
  void BeginUse(const CacheKey& key) override;
  void EndUse(const CacheKey& key) override;
  MakingTurn TakeMakingTurn(const CacheKey& key) override {
    return writable_ == nullptr ? MakingTurn() : writable_->TakeMakingTurn(key);
  }
  void ReleaseWhenStored(std::unique_ptr<MakingClaim> claim) override {
    if (writable_ != nullptr) writable_->ReleaseWhenStored(std::move(claim));
  }
  void BeginBatch() override {
    if (writable_ != nullptr) writable_->BeginBatch();
  }
  void EndBatch() override {
    if (writable_ != nullptr) writable_->EndBatch();
  }
  bool IsSuspect(const CacheKey& key) const override { return writable_ != nullptr && writable_->IsSuspect(key); }
  void Flush() override;
  StoreCounters counters() const override;  // a miss is one look-up that no store could serve
  std::vector<std::string> TakeWarnings() override;

 private:
  std::optional<std::string> OriginInLayers(const CacheKey& key, std::span<const std::byte> bytes);

  std::vector<std::unique_ptr<BlobStore>> layers_;
  std::unique_ptr<BlobStore> writable_;
  mutable std::mutex mutex_;                     // guards the members below
  std::map<Fingerprint, BlobStore*> served_by_;  // the layer of each hit
  StoreCounters own_;                            // misses, put errors without a writable store
};

}  // namespace hearth

#endif  // HEARTH_CACHE_LAYERED_STORE_H_
