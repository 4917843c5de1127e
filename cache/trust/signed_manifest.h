// The manifest of a bundle and the key that signed it, which imports and layers check first.
#ifndef HEARTH_CACHE_TRUST_SIGNED_MANIFEST_H_
#define HEARTH_CACHE_TRUST_SIGNED_MANIFEST_H_

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "cache/trust/manifest.h"
#include "cache/trust/signature.h"

namespace hearth {

inline constexpr const char* kManifestName = "manifest.txt";
inline constexpr const char* kSignatureName = "manifest.sig";
inline constexpr uint64_t kMaxManifestBytes = uint64_t{64} << 20;
inline constexpr uint64_t kMaxSignatureBytes = 1024;

// The texts of a bundle, unchecked. Who has no trusted key can still tell by the named one whether it signed.
struct BundleTexts {
  std::string manifest;
  std::string signature;  // "<128 hex digits>", then " <the public key>" except in old bundles; empty: none
};

struct SignedManifest {
  Manifest manifest;
  std::string signed_by;             // the trusted key in hex; empty if none signed it
  std::string key_id;                // the key in hex that signed it, trusted or not; empty if none is known
  std::array<uint8_t, 32> sha256{};  // of its text
};

// Looks for the signer before it reads the manifest. `bundle` is its name in errors. kIoError if it is damaged.
Result<SignedManifest> CheckTexts(const BundleTexts& texts, const std::string& bundle,
                                  std::span<const PublicKey> trusted_keys);

// Of a folder that is named as a bundle: what it is, and what to do.
Status IsNoBundle(const std::filesystem::path& folder);
// The same for a folder with a bundle's manifest: an older Hearth made it, or it is an unpacked file.
Status CheckHasNoManifest(const std::filesystem::path& folder);

// An addition to a refusal if signatures can't be checked at all; empty if they can.
std::string WhyNoSignatures();

}  // namespace hearth

#endif  // HEARTH_CACHE_TRUST_SIGNED_MANIFEST_H_
