#include "core/base/fingerprint.h"

#define XXH_INLINE_ALL  // header-only use: no link dependency for one function
#include <xxhash.h>

#include <algorithm>
#include <cstring>

#include "core/base/error.h"
#include "core/base/sha256.h"

namespace hearth {
namespace {

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

}  // namespace hearth
