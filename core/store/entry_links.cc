#include "core/store/entry_links.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "core/base/byte_reader.h"
#include "core/base/text.h"

namespace hearth {
namespace {

constexpr std::string_view kMagic = "HearthLinks1\n";

void AppendText(std::vector<std::byte>& bytes, std::string_view text) {
  std::ranges::copy(BytesOf(text), std::back_inserter(bytes));
}

std::optional<CacheKey> TakeKey(ByteReader& reader) {
  const auto kind = reader.Number<uint8_t>();
  const std::span<const std::byte> material = reader.Bytes(reader.Number<uint32_t>());
  if (reader.failed() || kind >= kBlobKindCount) return std::nullopt;
  return KeyFromMaterial(static_cast<BlobKind>(kind), TextFrom(material));
}

}  // namespace

std::vector<std::byte> ToBytes(const LinkedEntry& entry) {
  std::vector<std::byte> bytes;
  AppendText(bytes, kMagic);
  AppendNumber(bytes, static_cast<uint32_t>(entry.links.size()));
  for (const CacheKey& key : entry.links) {
    AppendNumber(bytes, static_cast<uint8_t>(key.kind()));
    AppendNumber(bytes, static_cast<uint32_t>(key.material().size()));
    AppendText(bytes, key.material());
  }
  bytes.insert(bytes.end(), entry.rest.begin(), entry.rest.end());
  return bytes;
}

bool HasLinks(std::span<const std::byte> bytes) {
  return TextFrom(bytes).starts_with(kMagic);
}

Result<LinkedEntry> LinkedEntryFrom(std::span<const std::byte> bytes) {
  const Status malformed(StatusCode::kMalformedInput, "it does not name the entries that it leads to");
  if (!HasLinks(bytes)) return malformed;
  ByteReader reader(bytes.subspan(kMagic.size()));
  LinkedEntry entry;
  for (auto left = reader.Number<uint32_t>(); left > 0; --left) {
    std::optional<CacheKey> key = TakeKey(reader);
    if (!key) return malformed;
    entry.links.push_back(*std::move(key));
  }
  if (reader.failed()) return malformed;
  entry.rest = reader.rest();
  return entry;
}

std::optional<CacheKey> NeededBy(const CacheKey& key, std::span<const std::byte> bytes) {
  if (key.kind() != BlobKind::kProgram || !HasLinks(bytes)) return std::nullopt;
  Result<LinkedEntry> entry = LinkedEntryFrom(bytes);
  if (!entry.ok() || entry->links.size() != 1) return std::nullopt;
  return std::move(entry->links.front());
}

}  // namespace hearth
