#include "core/base/fingerprint.h"

#define XXH_INLINE_ALL  // header-only use: no link dependency for one function
#include <xxhash.h>

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

struct FingerprintStream::State {
  XXH3_state_t xxh3;
};

FingerprintStream::FingerprintStream() : state_(std::make_unique<State>()) {
  XXH3_128bits_reset(&state_->xxh3);
}
FingerprintStream::FingerprintStream(std::span<const std::byte> secret) : state_(std::make_unique<State>()) {
  HEARTH_CHECK(secret.size() == kFingerprintSecretBytes);
  XXH3_128bits_reset_withSecret(&state_->xxh3, secret.data(), secret.size());
}
FingerprintStream::~FingerprintStream() = default;

void FingerprintStream::Add(std::span<const std::byte> piece) {
  XXH3_128bits_update(&state_->xxh3, piece.data(), piece.size());
}

Fingerprint FingerprintStream::Finish() const {
  return Canonical(XXH3_128bits_digest(&state_->xxh3));
}

}  // namespace hearth
