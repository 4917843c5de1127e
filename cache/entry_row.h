// What several parts of the cache do with single rows of schema.sql.
#ifndef HEARTH_CACHE_ENTRY_ROW_H_
#define HEARTH_CACHE_ENTRY_ROW_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "cache/database.h"
#include "core/base/fingerprint.h"

namespace hearth {

int64_t NowMs();  // since 1970

inline std::span<const std::byte> BytesOf(std::string_view text) {
  return std::as_bytes(std::span(text));
}
inline std::string_view TextFrom(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The 16 bytes of a digest or checksum column; zeros when it holds something else.
Fingerprint FingerprintFrom(std::span<const std::byte> bytes);

// nullopt where it is no key's material.
std::optional<CacheKey> KeyFromMaterial(BlobKind kind, std::string_view material);

// An entry and its blob, within the caller's transaction.
Status DeleteEntry(Database& database, int64_t id);
Status DeleteEntry(Database& database, const Fingerprint& digest);  // if there is one

}  // namespace hearth

#endif  // HEARTH_CACHE_ENTRY_ROW_H_
