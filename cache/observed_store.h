// Tells an observer what happens in a store, or what would happen without one.
#ifndef HEARTH_CACHE_OBSERVED_STORE_H_
#define HEARTH_CACHE_OBSERVED_STORE_H_

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "cache/entry_origin.h"
#include "core/base/blob_store.h"

namespace hearth {

// Forwards calls to `inner`. Without it every Get is a miss and every Put is lost, both uncounted.
class ObservedStore final : public BlobStore, public KnowsOrigins {
 public:
  ObservedStore(std::unique_ptr<BlobStore> inner, CacheObserver observer)
      : inner_(std::move(inner)), observer_(std::move(observer)) {}

  using BlobStore::Get;
  bool Get(const CacheKey& key, const Destination& destination) override;
  void ForEach(const CacheKey& common, const Visitor& visit) override;
  std::string NameOfContent(std::span<const std::byte> bytes, NameUse use) override {
    return inner_ == nullptr ? BlobStore::NameOfContent(bytes, use) : inner_->NameOfContent(bytes, use);
  }
  void Put(std::span<const PutRequest> requests) override;
  std::optional<std::string> OriginOf(const CacheKey& key, std::span<const std::byte> bytes) override {
    return OriginIn(inner_.get(), key, bytes);
  }
  void Reject(const CacheKey& key, std::string_view reason) override;
  void BeginUse(const CacheKey& key) override;
  void EndUse(const CacheKey& key) override;
  void Flush() override;
  MakingTurn TakeMakingTurn(const CacheKey& key) override {
    return inner_ == nullptr ? MakingTurn() : inner_->TakeMakingTurn(key);
  }
  void ReleaseWhenStored(std::unique_ptr<MakingClaim> claim) override {
    if (inner_ != nullptr) inner_->ReleaseWhenStored(std::move(claim));
  }
  void BeginBatch() override;
  void EndBatch() override;
  bool IsSuspect(const CacheKey& key) const override { return inner_ != nullptr && inner_->IsSuspect(key); }
  StoreCounters counters() const override;
  std::vector<std::string> TakeWarnings() override;

 private:
  void Tell(CacheEvent::What what, const CacheKey& key, uint64_t size_bytes);
  void TellOfPuts(std::vector<std::pair<CacheKey, uint64_t>> put, uint64_t errors_before);

  std::unique_ptr<BlobStore> inner_;
  CacheObserver observer_;
  std::mutex mutex_;  // for one observer call at a time; guards the members below
  bool is_in_batch_ = false;
  uint64_t errors_before_batch_ = 0;
  std::vector<std::pair<CacheKey, uint64_t>> batch_;  // keys and sizes
};

}  // namespace hearth

#endif  // HEARTH_CACHE_OBSERVED_STORE_H_
