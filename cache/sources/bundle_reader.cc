#include "cache/sources/bundle_reader.h"

#include <algorithm>
#include <string_view>
#include <system_error>
#include <utility>

#include "cache/files/folder.h"
#include "core/base/error.h"
#include "core/base/sha256.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;

Status NotAsPromised(const ManifestEntry& entry) {
  return Error(StatusCode::kIoError, "entry {} of the bundle does not match its manifest", entry.digest.ToHex());
}

}  // namespace

Result<BundleReader> BundleReader::Open(const fs::path& bundle, std::span<const PublicKey> trusted_keys) {
  std::error_code error;
  const fs::file_type type = fs::symlink_status(bundle, error).type();
  if (type == fs::file_type::not_found) return Error(StatusCode::kNotFound, "there is no bundle {}", bundle.string());
  if (type == fs::file_type::directory) return IsNoBundle(bundle);
  if (type != fs::file_type::regular && type != fs::file_type::symlink) {
    return Error(StatusCode::kInvalidArgument, "{} is not a bundle: it is no file", bundle.string());
  }
  HEARTH_ASSIGN(BundleFile file, BundleFile::Open(bundle));
  HEARTH_ASSIGN(const BundleTexts texts, file.ReadTexts());
  HEARTH_ASSIGN(SignedManifest manifest, CheckTexts(texts, bundle.string(), trusted_keys));
  return BundleReader(std::move(file), std::move(manifest));
}

Result<BundleFile::Head> BundleReader::HeadAsPromised(size_t number) {
  if (!located_) located_ = file_.Locate(manifest());
  HEARTH_TRY(*located_);  // an incomplete bundle has no entries
  const ManifestEntry& promised = manifest().entries[number];
  HEARTH_ASSIGN(BundleFile::Head head, file_.ReadHead(number));
  const CacheKey& key = head.envelope.key;
  if (key.kind() != promised.kind || key.digest() != promised.digest) return NotAsPromised(promised);
  HEARTH_ASSIGN(const auto fields, DecodeKeyMaterial(key.material()));
  const std::optional<CacheDevice> device = DeviceOf(fields);
  if (device.has_value() != promised.device.has_value() ||
      (device && *device != manifest().devices[*promised.device])) {
    return Error(StatusCode::kIoError, "entry {} of the bundle is for another device than its manifest says",
                 promised.digest.ToHex());
  }
  return head;
}

Result<uint64_t> BundleReader::Check(size_t number) {
  constexpr uint64_t kPieceBytes = uint64_t{1} << 20;
  const ManifestEntry& promised = manifest().entries[number];
  HEARTH_ASSIGN(const BundleFile::Head head, HeadAsPromised(number));
  Sha256 sha256;
  std::vector<std::byte> piece(std::min(kPieceBytes, promised.size_bytes));
  for (uint64_t at = 0; at < promised.size_bytes; at += piece.size()) {
    piece.resize(std::min<uint64_t>(piece.size(), promised.size_bytes - at));
    HEARTH_TRY(file_.ReadEntry(number, at, piece));
    sha256.Add(piece);
  }
  if (sha256.Finish() != promised.sha256) return NotAsPromised(promised);
  is_checked_[number] = true;
  return promised.size_bytes - head.bytes.size();
}

Result<BundleEntry> BundleReader::Load(size_t number) {
  if (!is_checked_[number]) HEARTH_TRY(Check(number).status());
  const ManifestEntry& promised = manifest().entries[number];
  HEARTH_ASSIGN(BundleFile::Head head, HeadAsPromised(number));
  BundleEntry entry{std::move(head.envelope.key), std::vector<std::byte>(promised.size_bytes - head.bytes.size()),
                    head.envelope.cost_ms};
  HEARTH_TRY(file_.ReadEntry(number, head.bytes.size(), entry.bytes));
  Sha256 sha256;
  sha256.Add(head.bytes);
  sha256.Add(entry.bytes);
  if (sha256.Finish() != promised.sha256) return NotAsPromised(promised);
  return entry;
}

}  // namespace hearth
