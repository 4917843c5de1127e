#include "cache/entry_origin.h"

namespace hearth {

std::string BundleOrigin(std::string_view signed_by) {
  return signed_by.empty() ? "bundle" : "bundle " + std::string(signed_by);
}

std::optional<std::string> OriginIn(BlobStore* store, const CacheKey& key, std::span<const std::byte> bytes) {
  auto* knows = dynamic_cast<KnowsOrigins*>(store);
  return knows == nullptr ? std::nullopt : knows->OriginOf(key, bytes);
}

bool IsMadeHere(BlobStore* store, const CacheKey& key, std::span<const std::byte> bytes) {
  return OriginIn(store, key, bytes).value_or("").empty();
}

std::vector<PutRequest> WithOrigins(std::span<const PutRequest> requests, const FindOrigin& origin_of,
                                    std::deque<std::string>& texts) {
  std::vector<PutRequest> named(requests.begin(), requests.end());
  for (PutRequest& request : named) {
    if (!request.origin.empty()) continue;
    std::optional<std::string> origin = origin_of(*request.key, request.bytes);
    if (origin && !origin->empty()) request.origin = texts.emplace_back(*std::move(origin));
  }
  PassOnOrigins(std::span(named));
  return named;
}

}  // namespace hearth
