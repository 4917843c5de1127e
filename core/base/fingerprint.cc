#include "core/base/fingerprint.h"

#define XXH_INLINE_ALL  // header-only use: no link dependency for one function
#include <xxhash.h>

#include <algorithm>
#include <cstring>

#include "core/base/error.h"
#include "core/base/sha256.h"
#include "core/base/text.h"

namespace hearth {
namespace {

constexpr std::string_view kKindNames[kBlobKindCount] = {"source", "weights", "plan",       "program",
                                                         "tuning", "probe",   "driver-blob"};

template <typename T>
void AppendLittleEndian(std::string& out, T number) {
  for (size_t i = 0; i < sizeof(T); ++i) out.push_back(static_cast<char>((number >> (8 * i)) & 0xff));
}

template <typename T>
bool TakeLittleEndian(std::string_view& in, T& number) {
  if (in.size() < sizeof(T)) return false;
  number = 0;
  for (size_t i = 0; i < sizeof(T); ++i) number |= static_cast<T>(static_cast<uint8_t>(in[i])) << (8 * i);
  in.remove_prefix(sizeof(T));
  return true;
}

Fingerprint Canonical(const XXH128_hash_t& hash) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, hash);
  Fingerprint fingerprint;
  std::memcpy(fingerprint.bytes.data(), canonical.digest, fingerprint.bytes.size());
  return fingerprint;
}

}  // namespace

std::string Fingerprint::ToHex() const {
  return HexOf(bytes);
}

Fingerprint FingerprintOf(std::span<const std::byte> bytes) {
  return Canonical(XXH3_128bits(bytes.data(), bytes.size()));
}

static_assert(kFingerprintSecretBytes >= XXH3_SECRET_SIZE_MIN);

Fingerprint SecretFingerprintOf(std::span<const std::byte> bytes, std::span<const std::byte> secret) {
  HEARTH_CHECK(secret.size() == kFingerprintSecretBytes);
  return Canonical(XXH3_128bits_withSecret(bytes.data(), bytes.size(), secret.data(), secret.size()));
}

Fingerprint FingerprintInPieces(std::span<const std::byte> bytes, size_t piece_bytes,
                                const std::function<void(std::span<const std::byte>)>& after_piece) {
  HEARTH_CHECK(piece_bytes > 0);
  XXH3_state_t state;
  XXH3_128bits_reset(&state);
  while (!bytes.empty()) {
    const std::span<const std::byte> piece = bytes.first(std::min(piece_bytes, bytes.size()));
    XXH3_128bits_update(&state, piece.data(), piece.size());
    after_piece(piece);
    bytes = bytes.subspan(piece.size());
  }
  return Canonical(XXH3_128bits_digest(&state));
}

std::string_view BlobKindName(BlobKind kind) {
  return kKindNames[static_cast<int>(kind)];
}

CacheKey& CacheKey::Add(std::string_view field, std::string_view text) {
  AppendLittleEndian(material_, static_cast<uint32_t>(field.size()));
  material_ += field;
  AppendLittleEndian(material_, static_cast<uint64_t>(text.size()));
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
  return Add(field, fmt::format("{}/{}", HexOf(Sha256Of(bytes)), bytes.size()));
}

Fingerprint CacheKey::digest() const {
  const std::string keyed = std::string(BlobKindName(kind_)) + '\0' + material_;
  return FingerprintOf(BytesOf(keyed));
}

Result<std::vector<std::pair<std::string, std::string>>> DecodeKeyMaterial(std::string_view material) {
  std::vector<std::pair<std::string, std::string>> fields;
  const Status malformed(StatusCode::kMalformedInput, "cache key material is not a list of named fields");
  while (!material.empty()) {
    uint32_t name_size = 0;
    if (!TakeLittleEndian(material, name_size) || name_size > material.size()) return malformed;
    std::string name(material.substr(0, name_size));
    material.remove_prefix(name_size);
    uint64_t value_size = 0;
    if (!TakeLittleEndian(material, value_size) || value_size > material.size()) return malformed;
    fields.emplace_back(std::move(name), std::string(material.substr(0, value_size)));
    material.remove_prefix(value_size);
  }
  return fields;
}

std::optional<CacheKey> KeyFromMaterial(BlobKind kind, std::string_view material) {
  const auto fields = DecodeKeyMaterial(material);
  if (!fields.ok()) return std::nullopt;
  CacheKey key(kind);
  for (const auto& [name, value] : *fields) key.Add(name, value);
  return key;
}

}  // namespace hearth
