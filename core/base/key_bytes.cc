#include "core/base/key_bytes.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>

#include "core/base/text.h"

namespace hearth {

void AppendKey(std::vector<std::byte>& bytes, const CacheKey& key) {
  AppendNumber(bytes, static_cast<uint32_t>(key.material().size()));
  AppendText(bytes, key.material());
}

std::optional<CacheKey> TakeKey(ByteReader& reader, BlobKind kind) {
  const std::span<const std::byte> material = reader.Bytes(reader.Number<uint32_t>());
  return reader.failed() ? std::nullopt : KeyFromMaterial(kind, TextFrom(material));
}

void AppendText(std::vector<std::byte>& bytes, std::string_view text) {
  std::ranges::copy(BytesOf(text), std::back_inserter(bytes));
}

}  // namespace hearth
