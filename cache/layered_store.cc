#include "cache/layered_store.h"

#include <deque>
#include <iterator>

namespace hearth {

bool LayeredStore::Get(const CacheKey& key, const Destination& destination) {
  // Tuning measured here is added to a layer's record of the same layer.
  if (key.kind() == BlobKind::kTuning && writable_ != nullptr && writable_->Get(key, destination)) return true;
  if (!IsSuspect(key)) {
    for (const std::unique_ptr<BlobStore>& layer : layers_) {
      if (!layer->Get(key, destination)) continue;
      const std::scoped_lock lock(mutex_);
      served_by_[key.digest()] = layer.get();
      return true;
    }
  }
  if (writable_ != nullptr && writable_->Get(key, destination)) return true;
  const std::scoped_lock lock(mutex_);
  ++own_.misses;
  return false;
}

void LayeredStore::ForEach(const CacheKey& common, const Visitor& visit) {
  for (const std::unique_ptr<BlobStore>& layer : layers_) {
    layer->ForEach(common, [&](const CacheKey& key, std::span<const std::byte> bytes) {
      {
        const std::scoped_lock lock(mutex_);
        served_by_[key.digest()] = layer.get();
      }
      if (!IsSuspect(key)) visit(key, bytes);
    });
  }
  if (writable_ != nullptr) writable_->ForEach(common, visit);
}

std::string LayeredStore::NameOfContent(std::span<const std::byte> bytes, NameUse use) {
  // A layer may have content that is new to the writable store, which remembers its name nevertheless.
  return writable_ == nullptr ? BlobStore::NameOfContent(bytes, use)
                              : writable_->NameOfContent(bytes, layers_.empty() ? use : NameUse::kPut);
}

void LayeredStore::Put(std::span<const PutRequest> requests) {
  if (writable_ != nullptr) {
    std::deque<std::string> origins;
    const auto in_layers = [this](const auto& key, auto bytes) { return OriginInLayers(key, bytes); };
    writable_->Put(WithOrigins(requests, in_layers, origins));
    return;
  }
  const std::scoped_lock lock(mutex_);
  own_.put_errors += requests.size();
}

std::optional<std::string> LayeredStore::OriginInLayers(const CacheKey& key, std::span<const std::byte> bytes) {
  for (const std::unique_ptr<BlobStore>& layer : layers_) {
    const std::optional<std::string> origin = OriginIn(layer.get(), key, bytes);
    // A layer without signatures does not say that its entries are from elsewhere.
    if (origin) return origin->empty() ? BundleOrigin("") : *origin;
  }
  return std::nullopt;
}

std::optional<std::string> LayeredStore::OriginOf(const CacheKey& key, std::span<const std::byte> bytes) {
  std::optional<std::string> origin = OriginInLayers(key, bytes);
  return origin ? origin : OriginIn(writable_.get(), key, bytes);
}

void LayeredStore::Reject(const CacheKey& key, std::string_view reason) {
  BlobStore* store = writable_.get();
  {
    const std::scoped_lock lock(mutex_);
    if (const auto found = served_by_.find(key.digest()); found != served_by_.end()) store = found->second;
  }
  if (store != nullptr) store->Reject(key, reason);
}

void LayeredStore::BeginUse(const CacheKey& key) {
  if (writable_ != nullptr) writable_->BeginUse(key);
}

void LayeredStore::EndUse(const CacheKey& key) {
  if (writable_ != nullptr) writable_->EndUse(key);
}

void LayeredStore::Flush() {
  if (writable_ != nullptr) writable_->Flush();
}

StoreCounters LayeredStore::counters() const {
  StoreCounters sum;
  const auto add = [&sum](const StoreCounters& part) {
    sum.hits += part.hits;
    sum.rejected += part.rejected;
    sum.put_errors += part.put_errors;
    sum.bytes_read += part.bytes_read;
    sum.bytes_written += part.bytes_written;
    sum.milliseconds_saved += part.milliseconds_saved;
  };
  for (const std::unique_ptr<BlobStore>& layer : layers_) add(layer->counters());
  if (writable_ != nullptr) add(writable_->counters());
  const std::scoped_lock lock(mutex_);
  add(own_);
  sum.misses = own_.misses;
  return sum;
}

std::vector<std::string> LayeredStore::TakeWarnings() {
  std::vector<std::string> warnings;
  const auto take = [&warnings](BlobStore& store) {
    std::vector<std::string> taken = store.TakeWarnings();
    std::move(taken.begin(), taken.end(), std::back_inserter(warnings));
  };
  for (const std::unique_ptr<BlobStore>& layer : layers_) take(*layer);
  if (writable_ != nullptr) take(*writable_);
  return warnings;
}

}  // namespace hearth
