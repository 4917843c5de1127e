#include "core/base/blob_store.h"

#include "core/base/error.h"
#include "core/base/sha256.h"

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

std::string BlobStore::NameOfContent(std::span<const std::byte> bytes, NameUse /*use*/) {
  return NameOfDigest(HexOf(Sha256Of(bytes)), bytes.size());
}

std::string BlobStore::NameOfDigest(std::string_view sha256_hex, uint64_t size_bytes) {
  return fmt::format("{}/{}", sha256_hex, size_bytes);
}

}  // namespace hearth
