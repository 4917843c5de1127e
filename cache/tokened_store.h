// A store with the entries of one token only: models that must not share entries have different tokens.
#ifndef HEARTH_CACHE_TOKENED_STORE_H_
#define HEARTH_CACHE_TOKENED_STORE_H_

#include <memory>
#include <optional>
#include <string>

#include "cache/entry_origin.h"
#include "core/base/blob_store.h"

namespace hearth {

class TokenedStore final : public BlobStore, public KnowsOrigins {
 public:
  TokenedStore(std::unique_ptr<BlobStore> inner, std::string token)
      : inner_(std::move(inner)), token_(std::move(token)) {}

  using BlobStore::Get;
  bool Get(const CacheKey& key, const Destination& destination) override { return inner_->Get(With(key), destination); }
  void ForEach(const CacheKey& common, const Visitor& visit) override;
  std::string NameOfContent(std::span<const std::byte> bytes, NameUse use) override {
    return inner_->NameOfContent(bytes, use);
  }
  void Put(std::span<const PutRequest> requests) override;
  std::optional<std::string> OriginOf(const CacheKey& key, std::span<const std::byte> bytes) override {
    return OriginIn(inner_.get(), With(key), bytes);
  }
  void BeginBatch() override { inner_->BeginBatch(); }
  void EndBatch() override { inner_->EndBatch(); }
  void Reject(const CacheKey& key, std::string_view reason) override { inner_->Reject(With(key), reason); }
  void BeginUse(const CacheKey& key) override { inner_->BeginUse(With(key)); }
  void EndUse(const CacheKey& key) override { inner_->EndUse(With(key)); }
  MakingTurn TakeMakingTurn(const CacheKey& key) override { return inner_->TakeMakingTurn(With(key)); }
  void ReleaseWhenStored(std::unique_ptr<MakingClaim> claim) override { inner_->ReleaseWhenStored(std::move(claim)); }
  bool IsSuspect(const CacheKey& key) const override { return inner_->IsSuspect(With(key)); }
  void Flush() override { inner_->Flush(); }
  StoreCounters counters() const override { return inner_->counters(); }
  std::vector<std::string> TakeWarnings() override { return inner_->TakeWarnings(); }

 private:
  CacheKey With(CacheKey key) const;

  std::unique_ptr<BlobStore> inner_;
  std::string token_;
};

}  // namespace hearth

#endif  // HEARTH_CACHE_TOKENED_STORE_H_
