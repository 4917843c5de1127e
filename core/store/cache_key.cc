#include "core/store/cache_key.h"

#include <algorithm>

#include "core/base/byte_reader.h"
#include "core/base/error.h"
#include "core/base/sha256.h"
#include "core/base/text.h"

namespace hearth {
namespace {

constexpr std::string_view kKindNames[] = {"source",          "weights",          "plan",        "program",
                                           "tuning",          "probe-read-path",  "driver-blob", "program-list",
                                           "probe-self-test", "probe-group-limit"};
static_assert(std::size(kKindNames) == kBlobKindCount);

}  // namespace

std::string_view BlobKindName(BlobKind kind) {
  return kKindNames[static_cast<int>(kind)];
}

std::optional<BlobKind> BlobKindFromName(std::string_view name) {
  return EnumNamed<BlobKind>(kKindNames, name);
}

bool IsInKindFamily(std::string_view kind, std::string_view family) {
  return kind.starts_with(family) && (kind.size() == family.size() || kind[family.size()] == '-');
}

bool IsNativeCode(BlobKind kind) {
  return kind == BlobKind::kProgram || kind == BlobKind::kProgramList || kind == BlobKind::kDriverBlob;
}

bool IsReadByDriver(BlobKind kind) {
  return kind == BlobKind::kProgram || kind == BlobKind::kSource || kind == BlobKind::kDriverBlob;
}

CacheKey& CacheKey::Add(std::string_view field, std::string_view text) {
  AppendNumber(material_, static_cast<uint32_t>(field.size()));
  material_ += field;
  AppendNumber(material_, static_cast<uint64_t>(text.size()));
  material_ += text;
  return *this;
}

CacheKey& CacheKey::Add(std::string_view field, int64_t number) {
  return Add(field, std::to_string(number));
}

CacheKey& CacheKey::Add(std::string_view field, const Fingerprint& digest) {
  return Add(field, digest.ToHex());
}

CacheKey& CacheKey::AddContent(std::string_view field, std::span<const std::byte> bytes) {
  return Add(field, NameByHash(bytes));
}

Fingerprint CacheKey::digest() const {
  const std::string keyed = std::string(BlobKindName(kind_)) + '\0' + material_;
  return FingerprintOf(BytesOf(keyed));
}

std::string NameByHash(std::span<const std::byte> bytes) {
  return NameByDigest(HexOf(Sha256Of(bytes)), bytes.size());
}

std::string NameByDigest(std::string_view sha256_hex, uint64_t size_bytes) {
  return fmt::format("{}/{}", sha256_hex, size_bytes);
}

Result<CacheKeyFields> DecodeKeyMaterial(std::string_view material) {
  CacheKeyFields fields;
  ByteReader reader(BytesOf(material));
  while (!reader.rest().empty() && !reader.failed()) {
    const std::string_view name = TextFrom(reader.Bytes(reader.Number<uint32_t>()));
    fields.emplace_back(name, TextFrom(reader.Bytes(reader.Number<uint64_t>())));
  }
  if (!reader.failed()) return fields;
  return Error(StatusCode::kMalformedInput, "cache key material is not a list of named fields");
}

std::optional<CacheKey> KeyFromMaterial(BlobKind kind, std::string_view material) {
  const auto fields = DecodeKeyMaterial(material);
  if (!fields.ok()) return std::nullopt;
  CacheKey key(kind);
  for (const auto& [name, value] : *fields) key.Add(name, value);
  return key;
}

std::string_view ValueOf(const CacheKeyFields& fields, std::string_view name) {
  const auto found = std::ranges::find(fields, name, &CacheKeyFields::value_type::first);
  return found == fields.end() ? std::string_view() : std::string_view(found->second);
}

}  // namespace hearth
