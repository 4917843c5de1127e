#include "cache/bundle_reader.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "cache/bundle_file.h"
#include "cache/entry_row.h"
#include "cache/folder.h"
#include "cache/report_access.h"
#include "core/base/error.h"
#include "core/base/sha256.h"
#include "core/base/text.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;

Status NotAsPromised(std::string_view entry) {
  return Error(StatusCode::kIoError, "entry {} of the bundle does not match its manifest", entry);
}

class FolderReader final : public BundleReader {
 public:
  FolderReader(SignedManifest manifest, fs::path folder)
      : BundleReader(std::move(manifest)), folder_(std::move(folder)), waits_(kReportWaitMs) {}

 private:
  Result<Found> Find(const ManifestEntry& promised, size_t) override {
    if (!database_) HEARTH_TRY(OpenStore());
    blob_.reset();
    HEARTH_ASSIGN(Statement row, database_->Prepare(std::string(kBundleColumns) + " WHERE digest=?"));
    const Result<bool> is_there = row.Bind(0, promised.digest.bytes).Step();
    const std::string name = promised.digest.ToHex();
    if (is_there.status().code() == StatusCode::kMalformedInput) {
      return Error(StatusCode::kIoError, "entry {} of the bundle is damaged", name);
    }
    HEARTH_TRY(is_there.status());
    if (!*is_there) return Error(StatusCode::kIoError, "entry {} of the manifest is not in the bundle", name);
    const std::optional<CacheKey> key = KeyFromMaterial(promised.kind, TextFrom(row.Blob(2)));
    if (!key || row.Text(1) != BlobKindName(promised.kind)) return NotAsPromised(name);
    Result<BlobReader> blob = database_->OpenBlob("blobs", "bytes", row.Number(7));
    if (!blob.ok()) return Error(StatusCode::kIoError, "entry {} of the bundle is damaged", name);
    if (blob->size_bytes() != promised.size_bytes) return NotAsPromised(name);
    blob_ = std::move(blob).value();
    return Found{*key, promised.cost_ms};
  }

  Status Read(size_t, uint64_t at, std::span<std::byte> bytes) override {
    return blob_->ReadPiece(at, bytes).Within(folder_.string());
  }

  Status OpenStore() {
    StoreOptions options;
    options.folder = folder_;
    options.read_only = options.immutable = true;
    Result<Database> database = OpenStoreFileAsItIs(options, waits_);
    if (database.status().code() == StatusCode::kNotFound) return NoStoreInBundle(folder_);
    if (!database.ok()) return Status(StatusCode::kIoError, database.status().message());
    database_ = std::move(database).value();
    return Status::Ok();
  }

  fs::path folder_;
  WaitBudget waits_;
  std::optional<Database> database_;
  std::optional<BlobReader> blob_;
};

class FileReader final : public BundleReader {
 public:
  FileReader(SignedManifest manifest, BundleFile file) : BundleReader(std::move(manifest)), file_(std::move(file)) {}

 private:
  Result<Found> Find(const ManifestEntry& promised, size_t number) override {
    if (!located_) located_ = file_.Locate(manifest());
    HEARTH_TRY(*located_);  // an incomplete bundle has no entries
    HEARTH_ASSIGN(const std::string material, file_.ReadMaterial(number));
    const std::optional<CacheKey> key = KeyFromMaterial(promised.kind, material);
    if (!key) return NotAsPromised(promised.digest.ToHex());
    return Found{*key, promised.cost_ms};
  }

  Status Read(size_t number, uint64_t at, std::span<std::byte> bytes) override {
    return file_.ReadBlob(number, at, bytes);
  }

  BundleFile file_;
  std::optional<Status> located_;
};

}  // namespace

std::optional<BundleEntry> LoadSound(Database& database, Statement& row) {
  const std::optional<BlobKind> kind = BlobKindFromName(row.Text(1));
  const std::optional<CacheKey> key = kind ? KeyFromMaterial(*kind, TextFrom(row.Blob(2))) : std::nullopt;
  if (!key || key->digest() != FingerprintFrom(row.Blob(0))) return std::nullopt;
  BundleEntry entry;
  entry.key = *key;
  Result<BlobReader> blob = database.OpenBlob("blobs", "bytes", row.Number(7));
  if (!blob.ok() || row.Number(3) < 0 || static_cast<uint64_t>(row.Number(3)) != blob->size_bytes()) {
    return std::nullopt;
  }
  if (!row.MayRead(blob->size_bytes())) return std::nullopt;
  entry.bytes.resize(blob->size_bytes());
  if (!blob->Read(entry.bytes).ok() || FingerprintOf(entry.bytes) != FingerprintFrom(row.Blob(9))) return std::nullopt;
  entry.cost_ms = BoundedCostMs(row.Real(4));
  return entry;
}

Result<std::unique_ptr<BundleReader>> BundleReader::Open(const fs::path& bundle,
                                                         std::span<const PublicKey> trusted_keys) {
  std::error_code error;
  const fs::file_type type = fs::symlink_status(bundle, error).type();
  if (type == fs::file_type::not_found) return Error(StatusCode::kNotFound, "there is no bundle {}", bundle.string());
  if (type != fs::file_type::regular && type != fs::file_type::directory && type != fs::file_type::symlink) {
    return Error(StatusCode::kInvalidArgument, "{} is not a bundle: it is neither a file nor a folder",
                 bundle.string());
  }
  if (type != fs::file_type::regular) {
    HEARTH_ASSIGN(fs::path folder, PrepareFolder(bundle, FolderUse::kReadOnlyLayer));
    const Result<BundleTexts> texts = ReadBundleTexts(folder);
    if (texts.status().code() == StatusCode::kNotFound) return NoManifestInBundle(folder);
    if (!texts.ok()) return texts.status();
    HEARTH_ASSIGN(SignedManifest manifest, CheckTexts(*texts, bundle.string(), trusted_keys));
    return std::unique_ptr<BundleReader>(std::make_unique<FolderReader>(std::move(manifest), std::move(folder)));
  }
  HEARTH_ASSIGN(BundleFile file, BundleFile::Open(bundle));
  HEARTH_ASSIGN(const BundleTexts texts, file.ReadTexts());
  HEARTH_ASSIGN(SignedManifest manifest, CheckTexts(texts, bundle.string(), trusted_keys));
  return std::unique_ptr<BundleReader>(std::make_unique<FileReader>(std::move(manifest), std::move(file)));
}

Result<BundleReader::Found> BundleReader::FindAsPromised(size_t number) {
  const ManifestEntry& promised = manifest().entries[number];
  HEARTH_ASSIGN(Found found, Find(promised, number));
  const std::string name = promised.digest.ToHex();
  if (found.key.digest() != promised.digest || Sha256Of(BytesOf(found.key.material())) != promised.material_sha256) {
    return NotAsPromised(name);
  }
  HEARTH_ASSIGN(const auto fields, DecodeKeyMaterial(found.key.material()));
  const std::optional<CacheDevice> device = DeviceOf(fields);
  if (device.has_value() != promised.device.has_value() ||
      (device && *device != manifest().devices[*promised.device])) {
    return Error(StatusCode::kIoError, "entry {} of the bundle is for another device than its manifest says", name);
  }
  return found;
}

Status BundleReader::Check(size_t number) {
  constexpr uint64_t kPieceBytes = uint64_t{1} << 20;
  const ManifestEntry& promised = manifest().entries[number];
  HEARTH_TRY(FindAsPromised(number).status());
  Sha256 blob_sha256;
  std::vector<std::byte> piece(std::min(kPieceBytes, promised.size_bytes));
  for (uint64_t at = 0; at < promised.size_bytes; at += piece.size()) {
    piece.resize(std::min<uint64_t>(piece.size(), promised.size_bytes - at));
    HEARTH_TRY(Read(number, at, piece));
    blob_sha256.Add(piece);
  }
  if (blob_sha256.Finish() != promised.blob_sha256) return NotAsPromised(promised.digest.ToHex());
  is_checked_[number] = true;
  return Status::Ok();
}

Result<BundleEntry> BundleReader::Load(size_t number) {
  if (!is_checked_[number]) HEARTH_TRY(Check(number));
  const ManifestEntry& promised = manifest().entries[number];
  HEARTH_ASSIGN(Found found, FindAsPromised(number));
  BundleEntry entry{std::move(found.key), std::vector<std::byte>(promised.size_bytes), found.cost_ms};
  HEARTH_TRY(Read(number, 0, entry.bytes));
  if (Sha256Of(entry.bytes) != promised.blob_sha256) return NotAsPromised(promised.digest.ToHex());
  return entry;
}

}  // namespace hearth
