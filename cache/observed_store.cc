#include "cache/observed_store.h"

#include <algorithm>
#include <iterator>

namespace hearth {

void ObservedStore::Tell(CacheEvent::What what, const CacheKey& key, uint64_t size_bytes) {
  CacheEvent event{what, std::string(BlobKindName(key.kind())), key.digest().ToHex(), size_bytes, {}};
  if (auto fields = DecodeKeyMaterial(key.material()); fields.ok()) event.fields = std::move(fields).value();
  const std::scoped_lock lock(mutex_);
  observer_(event);
}

bool ObservedStore::Get(const CacheKey& key, const Destination& destination) {
  uint64_t size_bytes = 0;
  const bool is_hit = inner_ != nullptr && inner_->Get(key, [&](uint64_t size) {
    size_bytes = size;
    return destination(size);
  });
  Tell(is_hit ? CacheEvent::What::kHit : CacheEvent::What::kMiss, key, is_hit ? size_bytes : 0);
  return is_hit;
}

void ObservedStore::ForEach(const CacheKey& common, const Visitor& visit) {
  if (inner_ == nullptr) return;
  inner_->ForEach(common, [&](const CacheKey& key, std::span<const std::byte> bytes) {
    Tell(CacheEvent::What::kHit, key, bytes.size());
    visit(key, bytes);
  });
}

void ObservedStore::Put(std::span<const PutRequest> requests) {
  if (inner_ == nullptr) return;
  const uint64_t errors_before = inner_->counters().put_errors;
  inner_->Put(requests);
  std::vector<std::pair<CacheKey, uint64_t>> put;
  for (const PutRequest& request : requests) put.emplace_back(*request.key, request.bytes.size());
  {
    const std::scoped_lock lock(mutex_);
    if (is_in_batch_) {
      std::ranges::move(put, std::back_inserter(batch_));
      return;
    }
  }
  TellOfPuts(std::move(put), errors_before);
}

void ObservedStore::TellOfPuts(std::vector<std::pair<CacheKey, uint64_t>> put, uint64_t errors_before) {
  if (inner_->counters().put_errors != errors_before) return;
  for (const auto& [key, size_bytes] : put) Tell(CacheEvent::What::kStored, key, size_bytes);
}

void ObservedStore::BeginBatch() {
  if (inner_ == nullptr) return;
  inner_->BeginBatch();
  const std::scoped_lock lock(mutex_);
  is_in_batch_ = true;
  errors_before_batch_ = inner_->counters().put_errors;
}

void ObservedStore::EndBatch() {
  if (inner_ == nullptr) return;
  inner_->EndBatch();
  std::vector<std::pair<CacheKey, uint64_t>> put;
  {
    const std::scoped_lock lock(mutex_);
    is_in_batch_ = false;
    put.swap(batch_);
  }
  TellOfPuts(std::move(put), errors_before_batch_);
}

void ObservedStore::Reject(const CacheKey& key, std::string_view reason) {
  if (inner_ != nullptr) inner_->Reject(key, reason);
  Tell(CacheEvent::What::kRejected, key, 0);
}

void ObservedStore::BeginUse(const CacheKey& key) {
  if (inner_ != nullptr) inner_->BeginUse(key);
}
void ObservedStore::EndUse(const CacheKey& key) {
  if (inner_ != nullptr) inner_->EndUse(key);
}
void ObservedStore::Flush() {
  if (inner_ != nullptr) inner_->Flush();
}
StoreCounters ObservedStore::counters() const {
  return inner_ == nullptr ? StoreCounters() : inner_->counters();
}
std::vector<std::string> ObservedStore::TakeWarnings() {
  return inner_ == nullptr ? std::vector<std::string>() : inner_->TakeWarnings();
}

}  // namespace hearth
