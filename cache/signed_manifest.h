// The manifest of a bundle, with the key that stands behind it: what imports and layers ask first.
#ifndef HEARTH_CACHE_SIGNED_MANIFEST_H_
#define HEARTH_CACHE_SIGNED_MANIFEST_H_

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "cache/manifest.h"
#include "cache/signature.h"

namespace hearth {

inline constexpr const char* kManifestName = "manifest.txt";
inline constexpr const char* kSignatureName = "manifest.sig";
inline constexpr uint64_t kMaxManifestBytes = uint64_t{64} << 20;
inline constexpr uint64_t kMaxSignatureBytes = 1024;

// As they lie in a bundle: nothing of them is checked.
struct BundleTexts {
  std::string manifest;
  std::string signature;  // empty: none
};
// kNotFound: no manifest there. `folder` as PrepareFolder returned it.
Result<BundleTexts> ReadBundleTexts(const std::filesystem::path& folder);

struct SignedManifest {
  Manifest manifest;
  std::string signed_by;             // the trusted key in hex; empty: no such key has signed it
  std::array<uint8_t, 32> sha256{};  // of its text
};

// Looks for the signer before it reads the manifest. `bundle` is what errors call it. kIoError: it is damaged.
Result<SignedManifest> CheckTexts(const BundleTexts& texts, const std::string& bundle,
                                  std::span<const PublicKey> trusted_keys);

// Why a folder that lacks its manifest, or its store, is no bundle, and what to do. kNotFound and kIoError.
Status NoManifestInBundle(const std::filesystem::path& folder);
Status NoStoreInBundle(const std::filesystem::path& folder);

// What a refusal adds where signatures can't be checked at all; empty where they can.
std::string WhyNoSignatures();

}  // namespace hearth

#endif  // HEARTH_CACHE_SIGNED_MANIFEST_H_
