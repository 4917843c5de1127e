// What several parts of the cache do with single rows of schema.sql.
#ifndef HEARTH_CACHE_ENTRY_ROW_H_
#define HEARTH_CACHE_ENTRY_ROW_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "cache/database.h"
#include "core/base/fingerprint.h"

namespace hearth {

int64_t NowMs();  // since 1970

inline std::span<const std::byte> BytesOf(std::string_view text) {
  return std::as_bytes(std::span(text));
}

// The 16 bytes of a digest or checksum column; zeros when it holds something else.
Fingerprint FingerprintFrom(std::span<const std::byte> bytes);

// An entry and its blob, within the caller's transaction.
Status DeleteEntry(Database& database, int64_t id);
Status DeleteEntry(Database& database, const Fingerprint& digest);  // if there is one

}  // namespace hearth

#endif  // HEARTH_CACHE_ENTRY_ROW_H_
