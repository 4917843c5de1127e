// The manifest of a bundle's folder, with the key that stands behind it: what imports and layers ask first.
#ifndef HEARTH_CACHE_SIGNED_MANIFEST_H_
#define HEARTH_CACHE_SIGNED_MANIFEST_H_

#include <filesystem>
#include <span>
#include <string>

#include "cache/manifest.h"
#include "cache/signature.h"

namespace hearth {

inline constexpr const char* kManifestName = "manifest.txt";
inline constexpr const char* kSignatureName = "manifest.sig";

struct SignedManifest {
  Manifest manifest;
  std::string signed_by;  // the trusted key in hex; empty: no such key has signed it
};

// kNotFound: no manifest there. kIoError: it is damaged, or not to be used here or any more.
Result<SignedManifest> ReadSignedManifest(const std::filesystem::path& bundle, std::span<const PublicKey> trusted_keys);

// What a refusal adds where signatures can't be checked at all; empty where they can.
std::string WhyNoSignatures();

}  // namespace hearth

#endif  // HEARTH_CACHE_SIGNED_MANIFEST_H_
