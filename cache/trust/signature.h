// Ed25519 signatures (libsodium) over manifests and remote entries, and the files that keys are kept in:
//   secret   "hearth-ed25519-secret <64 hex digits>", mode 0600
//   public   lines of "hearth-ed25519-public <64 hex digits>", '#' begins a comment; several keys may be trusted
// libsodium is opened at run time. Functions that need it return kUnavailable if it is missing, and kUnsupported in a
// build without HEARTH_WITH_SODIUM.
#ifndef HEARTH_CACHE_TRUST_SIGNATURE_H_
#define HEARTH_CACHE_TRUST_SIGNATURE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "core/base/error.h"
#include "hearth/status.h"

namespace hearth {

using PublicKey = std::array<uint8_t, 32>;
inline constexpr size_t kKeyDigits = 2 * sizeof(PublicKey);  // hex digits
using Signature = std::array<uint8_t, 64>;
struct SigningKey {
  std::array<uint8_t, 32> seed{};
};

bool HasSignatures();  // in this build and on this machine

// Makes `file` (mode 0600; must not exist) and `file`.pub. kIoError if others could lead the way there or replace them.
Result<PublicKey> MakeSigningKey(const std::filesystem::path& file);
// kIoError if others may read the file, own it, or could lead the way to another one.
Result<SigningKey> ReadSigningKey(const std::filesystem::path& file);
// kIoError if others may write to the file, own it, or could lead the way to another one.
Result<std::vector<PublicKey>> ReadPublicKeys(const std::filesystem::path& file);

Result<Signature> Sign(const SigningKey& key, std::span<const std::byte> message);
Result<PublicKey> PublicKeyOf(const SigningKey& key);
// The key among `trusted` that made the signature; nullopt if none did.
Result<std::optional<PublicKey>> SignerOf(std::span<const std::byte> message, const Signature& signature,
                                          std::span<const PublicKey> trusted);

}  // namespace hearth

#endif  // HEARTH_CACHE_TRUST_SIGNATURE_H_
