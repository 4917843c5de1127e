#include "cache/signed_manifest.h"

#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>

#include "cache/entry_row.h"
#include "core/base/sha256.h"
#include "hearth/version.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMaxManifestBytes = uint64_t{64} << 20;

Result<std::string> ReadText(const fs::path& file, uint64_t max_bytes) {
  std::error_code error;
  const uint64_t size_bytes = fs::file_size(file, error);
  if (error) return Error(StatusCode::kNotFound, "{}: {}", file.string(), error.message());
  if (size_bytes > max_bytes) return Error(StatusCode::kIoError, "{} is too long to be a bundle's", file.string());
  std::ifstream in(file, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

// A signature that is broken under no matter which key is not told apart from one by a stranger.
Result<std::string> TrustedSigner(const fs::path& bundle, const std::string& manifest,
                                  std::span<const PublicKey> trusted_keys) {
  const fs::path file = bundle / kSignatureName;
  std::error_code error;
  if (trusted_keys.empty() || !fs::exists(file, error)) return std::string();
  HEARTH_ASSIGN(std::string hex, ReadText(file, 1024));
  while (!hex.empty() && hex.back() == '\n') hex.pop_back();
  Signature signature;
  if (!BytesFromHex(hex, signature)) return Error(StatusCode::kIoError, "{} is not a signature", file.string());
  HEARTH_ASSIGN(const std::optional<PublicKey> signer, SignerOf(BytesOf(manifest), signature, trusted_keys));
  return signer ? HexOf(*signer) : std::string();
}

}  // namespace

Result<SignedManifest> ReadSignedManifest(const fs::path& bundle, std::span<const PublicKey> trusted_keys) {
  HEARTH_ASSIGN(const std::string text, ReadText(bundle / kManifestName, kMaxManifestBytes));
  Result<Manifest> manifest = Manifest::FromText(text);
  if (!manifest.ok()) {
    return Error(StatusCode::kIoError, "the manifest of {} is damaged: {}", bundle.string(),
                 manifest.status().message());
  }
  if (const Status status = manifest->CheckUsable(NowMs(), HEARTH_VERSION); !status.ok()) {
    return status.Within(bundle.string());
  }
  HEARTH_ASSIGN(std::string signed_by, TrustedSigner(bundle, text, trusted_keys));
  return SignedManifest{std::move(manifest).value(), std::move(signed_by)};
}

std::string WhyNoSignatures() {
  return HasSignatures() ? "" : "; signatures can't be checked here: libsodium is not installed";
}

}  // namespace hearth
