#include "cache/tokened_store.h"

#include "core/plan/key_fields.h"

namespace hearth {

CacheKey TokenedStore::With(CacheKey key) const {
  key.Add(kModelTokenField.name, token_);
  return key;
}

void TokenedStore::ForEach(const CacheKey& common, const Visitor& visit) {
  inner_->ForEach(common, [&](const CacheKey& key, std::span<const std::byte> bytes) {
    const auto fields = DecodeKeyMaterial(key.material());
    if (!fields.ok() || fields->empty() || fields->back().first != kModelTokenField.name ||
        fields->back().second != token_) {
      return;
    }
    CacheKey bare(key.kind());
    for (size_t k = 0; k + 1 < fields->size(); ++k) bare.Add((*fields)[k].first, (*fields)[k].second);
    visit(bare, bytes);
  });
}

void TokenedStore::Put(std::span<const PutRequest> requests) {
  std::vector<CacheKey> keys;
  keys.reserve(requests.size());
  std::vector<PutRequest> tokened(requests.begin(), requests.end());
  for (PutRequest& request : tokened) request.key = &keys.emplace_back(With(*request.key));
  inner_->Put(tokened);
}

}  // namespace hearth
