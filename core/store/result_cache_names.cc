// What long content is called in a cache's keys.
#include "core/base/error.h"
#include "core/store/result_cache.h"

namespace hearth {

std::string ResultCache::NameOf(std::span<const std::byte> bytes, NameUse use) {
  if (parts_.names == nullptr) return NameByHash(bytes);
  return parts_.names->NameOf(bytes, UseHere(use));
}

Result<KnownFile> ResultCache::NameOf(const ContentReading& content, NameUse use) {
  if (parts_.names != nullptr) return parts_.names->NameOf(content, UseHere(use));
  HEARTH_ASSIGN(ContentDigests digests, DigestsOf(content, {}, WithName::kYes));
  return KnownFile{digests.fingerprint.ToHex(), std::move(digests.name)};
}

// Layers and the server may have content that is new to the own store.
NameUse ResultCache::UseHere(NameUse use) const {
  const bool is_new_elsewhere = !parts_.layers.empty() || (parts_.server != nullptr && parts_.server->is_usable());
  return is_new_elsewhere && use == NameUse::kLookUp ? NameUse::kPut : use;
}

}  // namespace hearth
