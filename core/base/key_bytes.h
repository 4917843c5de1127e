// Keys of entries within the bytes of another entry.
#ifndef HEARTH_CORE_BASE_KEY_BYTES_H_
#define HEARTH_CORE_BASE_KEY_BYTES_H_

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/byte_reader.h"
#include "core/base/fingerprint.h"

namespace hearth {

// Appends the key's material; who reads it must know its kind.
void AppendKey(std::vector<std::byte>& bytes, const CacheKey& key);

// As AppendKey wrote it; nullopt if no key follows.
std::optional<CacheKey> TakeKey(ByteReader& reader, BlobKind kind);

void AppendText(std::vector<std::byte>& bytes, std::string_view text);

}  // namespace hearth

#endif  // HEARTH_CORE_BASE_KEY_BYTES_H_
