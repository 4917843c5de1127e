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

// The key among `keys` that signed the texts, in hex. A signature that is wrong for each of them can't be told from one
// by an unknown key.
Result<std::string> SignerAmong(std::span<const PublicKey> keys, const BundleTexts& texts, const std::string& bundle) {
  if (keys.empty() || texts.signature.empty()) return std::string();
  const std::string_view hex = std::string_view(texts.signature).substr(0, texts.signature.find_first_of(" \n"));
  Signature signature;
  if (!BytesFromHex(hex, signature)) {
    return Error(StatusCode::kIoError, "the signature of {} is not 128 hex digits", bundle);
  }
  HEARTH_ASSIGN(const std::optional<PublicKey> signer, SignerOf(BytesOf(texts.manifest), signature, keys));
  return signer ? HexOf(*signer) : std::string();
}

// The key beside the signature, in hex, if it is the one that signed.
std::string NamedSigner(const BundleTexts& texts, const std::string& bundle) {
  const size_t blank = texts.signature.find(' ');
  if (blank == std::string::npos) return "";
  PublicKey key;
  if (!BytesFromHex(std::string_view(texts.signature).substr(blank + 1, kKeyDigits), key)) return "";
  const Result<std::string> signer = SignerAmong({&key, 1}, texts, bundle);
  return signer.ok() ? *signer : "";
}

}  // namespace

Result<SignedManifest> CheckTexts(const BundleTexts& texts, const std::string& bundle,
                                  std::span<const PublicKey> trusted_keys) {
  HEARTH_ASSIGN(std::string signed_by, SignerAmong(trusted_keys, texts, bundle));
  std::string key_id = signed_by.empty() ? NamedSigner(texts, bundle) : signed_by;
  Result<Manifest> manifest = Manifest::FromText(texts.manifest);
  if (manifest.ok()) {
    return SignedManifest{std::move(manifest).value(), std::move(signed_by), std::move(key_id),
                          Sha256Of(BytesOf(texts.manifest))};
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
