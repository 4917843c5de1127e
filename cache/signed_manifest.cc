#include "cache/signed_manifest.h"

#include <optional>
#include <span>
#include <system_error>

#include "cache/entry_row.h"
#include "cache/folder.h"
#include "core/base/error.h"
#include "core/base/sha256.h"
#include "core/base/text.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;

Result<std::string> ReadText(const fs::path& file, uint64_t max_bytes) {
  HEARTH_ASSIGN(const OpenedFile opened, OpenBundlePart(file));
  if (opened.size_bytes > max_bytes) {
    return Error(StatusCode::kIoError, "{} is too long for a bundle", file.string());
  }
  std::string text(opened.size_bytes, '\0');
  HEARTH_TRY(ReadExactly(opened.descriptor, 0, std::as_writable_bytes(std::span(text))).Within(file.string()));
  return text;
}

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

Result<BundleTexts> ReadBundleTexts(const fs::path& folder) {
  BundleTexts texts;
  HEARTH_ASSIGN(texts.manifest, ReadText(folder / kManifestName, kMaxManifestBytes));
  Result<std::string> signature = ReadText(folder / kSignatureName, kMaxSignatureBytes);
  if (signature.ok()) {
    texts.signature = std::move(signature).value();
  } else if (signature.status().code() != StatusCode::kNotFound) {
    return signature.status();
  }
  return texts;
}

Result<SignedManifest> CheckTexts(const BundleTexts& texts, const std::string& bundle,
                                  std::span<const PublicKey> trusted_keys) {
  HEARTH_ASSIGN(std::string signed_by, TrustedSigner(texts, bundle, trusted_keys));
  Result<Manifest> manifest = Manifest::FromText(texts.manifest);
  if (manifest.ok()) {
    return SignedManifest{std::move(manifest).value(), std::move(signed_by), Sha256Of(BytesOf(texts.manifest))};
  }
  return Error(StatusCode::kIoError, "the manifest of {} is damaged: {}", bundle, manifest.status().message());
}

Status NoManifestInBundle(const fs::path& folder) {
  std::error_code error;
  const bool is_cache = fs::exists(folder / kStoreFileName, error);
  return Error(StatusCode::kNotFound, "{} is {}: there is no {} in it; {}", folder.string(),
               is_cache ? "a cache, not a bundle" : "not a bundle", kManifestName,
               is_cache
                   ? fmt::format("`hearth cache export BUNDLE.tar --cache {}` makes a bundle of it", folder.string())
                   : "name the folder or the .tar that `hearth cache export` made");
}

Status NoStoreInBundle(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().extension() != ".key") continue;
    return Error(StatusCode::kIoError,
                 "{} is an unpacked bundle file, which is not read: name the .tar itself, or export it again",
                 folder.string());
  }
  return Error(StatusCode::kIoError, "{} is not a complete bundle: it has no {}; copy it again, or export it again",
               folder.string(), kStoreFileName);
}

std::string WhyNoSignatures() {
  return HasSignatures() ? "" : "; signatures can't be checked here: libsodium is not installed";
}

}  // namespace hearth
