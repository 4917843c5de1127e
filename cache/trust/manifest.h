// Describes a bundle's entries, as a text that can be signed.
//
//   hearth-bundle 2
//   made-by 0.1.0
//   made 1767225600000
//   expires 1798761600000
//   least-version 0.1.0
//   device opencl GPU%20name 1.2.3 00112233
//   entry program <digest> <bytes of the envelope> <SHA-256 of the envelope> 0
//
// The lines for creation and expiry (milliseconds since 1970) and the least version of Hearth are optional. Only a
// bundle that expires tells when it was made, since the bytes of others follow from their entries alone. Values are
// separated by one blank; characters other than letters, digits and "-._~" are written as %XX. An entry is an envelope
// (envelope.h), and has the number of its device line last ('-' if it fits every device).
#ifndef HEARTH_CACHE_TRUST_MANIFEST_H_
#define HEARTH_CACHE_TRUST_MANIFEST_H_

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/trust/signature.h"
#include "core/base/error.h"
#include "core/store/cache_key.h"
#include "hearth/cache_types.h"

namespace hearth {

// Limits for promised sizes.
inline constexpr uint64_t kMaxEntryBytes = 1'000'000'000;  // the least that sqlite takes
inline constexpr size_t kMaxDevices = 10'000;

struct ManifestEntry {
  BlobKind kind = BlobKind::kPlan;
  Fingerprint digest;
  uint64_t size_bytes = 0;
  std::array<uint8_t, 32> sha256{};
  std::optional<size_t> device;  // index in Manifest::devices
};

struct Manifest {
  std::string made_by;        // Hearth's version
  int64_t made_ms = 0;        // since 1970; 0: not told
  int64_t expires_ms = 0;     // since 1970; 0: never
  std::string least_version;  // of Hearth; empty: any
  std::vector<CacheDevice> devices;
  std::vector<ManifestEntry> entries;

  std::string ToText() const;
  // kMalformedInput names the line.
  static Result<Manifest> FromText(std::string_view text);

  // kIoError if the bundle has expired or needs another version; says which. Expiry is judged by the later of the clock
  // and the latest time that the cache has seen, both in milliseconds since 1970.
  Status CheckUsable(int64_t now_ms, std::string_view version, int64_t latest_ms = 0) const;
};

// The numbers of a version like 1.2.3; nullopt for anything else.
std::optional<std::array<uint32_t, 3>> VersionNumbers(std::string_view text);

// The device that a key names; nullopt for a key that fits every device.
std::optional<CacheDevice> DeviceOf(const CacheKeyFields& fields);

// ---- The manifest and the key that signed it, which imports and layers check first ----

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

#endif  // HEARTH_CACHE_TRUST_MANIFEST_H_
