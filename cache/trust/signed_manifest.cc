#include "cache/trust/signed_manifest.h"

#include <optional>
#include <span>
#include <system_error>

#include "cache/files/folder.h"
#include "core/base/error.h"
#include "core/base/sha256.h"
#include "core/base/text.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;

// A signature that is wrong for every trusted key can't be told from one by an unknown key.
Result<std::string> TrustedSigner(const BundleTexts& texts, const std::string& bundle,
                                  std::span<const PublicKey> trusted_keys) {
  if (trusted_keys.empty() || texts.signature.empty()) return std::string();
  std::string_view hex = texts.signature;
  while (hex.ends_with('\n')) hex.remove_suffix(1);
  Signature signature;
  if (!BytesFromHex(hex, signature)) {
    return Error(StatusCode::kIoError, "the signature of {} is not 128 hex digits", bundle);
  }
  HEARTH_ASSIGN(const std::optional<PublicKey> signer, SignerOf(BytesOf(texts.manifest), signature, trusted_keys));
  return signer ? HexOf(*signer) : std::string();
}

}  // namespace

Result<SignedManifest> CheckTexts(const BundleTexts& texts, const std::string& bundle,
                                  std::span<const PublicKey> trusted_keys) {
  HEARTH_ASSIGN(std::string signed_by, TrustedSigner(texts, bundle, trusted_keys));
  Result<Manifest> manifest = Manifest::FromText(texts.manifest);
  if (manifest.ok()) {
    return SignedManifest{std::move(manifest).value(), std::move(signed_by), Sha256Of(BytesOf(texts.manifest))};
  }
  return Error(StatusCode::kIoError, "the manifest of {} is damaged: {}", bundle, manifest.status().message());
}

Status CheckHasNoManifest(const fs::path& folder) {
  std::error_code error;
  if (!fs::exists(folder / kManifestName, error)) return Status::Ok();
  return Error(StatusCode::kIoError,
               "{} is a bundle in a folder, which is not read: name the .tar file itself, or export it again to one",
               folder.string());
}

Status IsNoBundle(const fs::path& folder) {
  HEARTH_TRY(CheckHasNoManifest(folder));
  std::error_code error;
  if (!fs::exists(folder / kStoreFileName, error)) {
    return Error(StatusCode::kNotFound, "{} is not a bundle: name the .tar that `hearth cache export` made",
                 folder.string());
  }
  return Error(StatusCode::kNotFound,
               "{0} is a cache, not a bundle: `hearth cache export BUNDLE.tar --cache {0}` makes a bundle of it",
               folder.string());
}

std::string WhyNoSignatures() {
  return HasSignatures() ? "" : "; signatures can't be checked here: libsodium is not installed";
}

}  // namespace hearth
