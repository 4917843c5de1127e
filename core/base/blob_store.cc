#include "core/base/blob_store.h"

namespace hearth {

std::optional<std::vector<std::byte>> BlobStore::Get(const CacheKey& key) {
  std::vector<std::byte> bytes;
  const bool found = Get(key, [&bytes](uint64_t size_bytes) {
    bytes.resize(size_bytes);
    return std::span<std::byte>(bytes);
  });
  if (!found) return std::nullopt;
  return bytes;
}

}  // namespace hearth
