#include "cache/bundle_reader.h"

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

namespace hearth {
namespace {

namespace fs = std::filesystem;

Status NotAsPromised(std::string_view entry) {
  return Error(StatusCode::kIoError, "entry {} of the bundle is not what its manifest promises", entry);
}

class FolderReader final : public BundleReader {
 public:
  FolderReader(SignedManifest manifest, fs::path folder)
      : BundleReader(std::move(manifest)), folder_(std::move(folder)), waits_(kReportWaitMs) {}

 private:
  Result<BundleEntry> Find(const ManifestEntry& promised, size_t) override {
    if (!database_) HEARTH_TRY(OpenStore());
    HEARTH_ASSIGN(Statement rows, database_->Prepare(std::string(kBundleColumns) + " WHERE digest=?"));
    HEARTH_ASSIGN(const bool row, rows.Bind(0, promised.digest.bytes).Step());
    const std::string name = promised.digest.ToHex();
    if (!row) return Error(StatusCode::kIoError, "entry {} of the manifest is not in the bundle", name);
    if (static_cast<uint64_t>(rows.Number(3)) != promised.size_bytes) return NotAsPromised(name);
    std::optional<BundleEntry> entry = LoadSound(*database_, rows);
    if (!entry) return Error(StatusCode::kIoError, "entry {} of the bundle is damaged", name);
    return *std::move(entry);
  }

  Status OpenStore() {
    StoreOptions options;
    options.folder = folder_;
    options.read_only = options.immutable = true;
    Result<Database> database = OpenStoreFileAsItIs(options, waits_);
    if (!database.ok()) return Status(StatusCode::kIoError, database.status().message());
    database_ = std::move(database).value();
    return Status::Ok();
  }

  fs::path folder_;
  WaitBudget waits_;
  std::optional<Database> database_;
};

class FileReader final : public BundleReader {
 public:
  FileReader(SignedManifest manifest, BundleFile file) : BundleReader(std::move(manifest)), file_(std::move(file)) {}

 private:
  Result<BundleEntry> Find(const ManifestEntry& promised, size_t number) override {
    if (!located_) located_ = file_.Locate(manifest());
    HEARTH_TRY(*located_);  // a file that is no whole bundle has no entries
    HEARTH_ASSIGN(const std::string material, file_.ReadMaterial(number));
    const std::optional<CacheKey> key = KeyFromMaterial(promised.kind, material);
    if (!key || key->digest() != promised.digest) {
      return Error(StatusCode::kIoError, "entry {} of the bundle is damaged", promised.digest.ToHex());
    }
    BundleEntry entry;
    entry.bytes.resize(promised.size_bytes);
    HEARTH_TRY(file_.ReadBlob(number, entry.bytes));
    entry.key = *key;
    entry.cost_ms = promised.cost_ms;
    return entry;
  }

  BundleFile file_;
  std::optional<Status> located_;
};

}  // namespace

std::optional<BundleEntry> LoadSound(Database& database, const Statement& row) {
  const std::optional<BlobKind> kind = BlobKindFromName(row.Text(1));
  const std::optional<CacheKey> key = kind ? KeyFromMaterial(*kind, TextFrom(row.Blob(2))) : std::nullopt;
  if (!key || key->digest() != FingerprintFrom(row.Blob(0))) return std::nullopt;
  BundleEntry entry;
  entry.key = *key;
  Result<BlobReader> blob = database.OpenBlob("blobs", "bytes", row.Number(7));
  if (!blob.ok() || row.Number(3) < 0 || static_cast<uint64_t>(row.Number(3)) != blob->size_bytes()) {
    return std::nullopt;
  }
  entry.bytes.resize(blob->size_bytes());
  if (!blob->Read(entry.bytes).ok() || FingerprintOf(entry.bytes) != FingerprintFrom(row.Blob(9))) return std::nullopt;
  entry.cost_ms = row.Real(4);
  return entry;
}

Result<std::unique_ptr<BundleReader>> BundleReader::Open(const fs::path& bundle,
                                                         std::span<const PublicKey> trusted_keys) {
  std::error_code error;
  const fs::file_type type = fs::symlink_status(bundle, error).type();
  if (type == fs::file_type::not_found) return Error(StatusCode::kNotFound, "there is no bundle {}", bundle.string());
  if (type != fs::file_type::regular && type != fs::file_type::directory && type != fs::file_type::symlink) {
    return Error(StatusCode::kInvalidArgument, "{} is no bundle: it is neither a file nor a folder", bundle.string());
  }
  if (type != fs::file_type::regular) {
    HEARTH_ASSIGN(fs::path folder, PrepareFolder(bundle, FolderUse::kReadOnlyLayer));
    HEARTH_ASSIGN(const BundleTexts texts, ReadBundleTexts(folder));
    HEARTH_ASSIGN(SignedManifest manifest, CheckTexts(texts, bundle.string(), trusted_keys));
    return std::unique_ptr<BundleReader>(std::make_unique<FolderReader>(std::move(manifest), std::move(folder)));
  }
  HEARTH_ASSIGN(BundleFile file, BundleFile::Open(bundle));
  HEARTH_ASSIGN(const BundleTexts texts, file.ReadTexts());
  HEARTH_ASSIGN(SignedManifest manifest, CheckTexts(texts, bundle.string(), trusted_keys));
  return std::unique_ptr<BundleReader>(std::make_unique<FileReader>(std::move(manifest), std::move(file)));
}

Result<BundleEntry> BundleReader::Load(size_t number) {
  const ManifestEntry& promised = manifest().entries[number];
  HEARTH_ASSIGN(BundleEntry entry, Find(promised, number));
  const std::string name = promised.digest.ToHex();
  if (entry.key.kind() != promised.kind || entry.bytes.size() != promised.size_bytes ||
      Sha256Of(entry.bytes) != promised.blob_sha256 ||
      Sha256Of(BytesOf(entry.key.material())) != promised.material_sha256) {
    return NotAsPromised(name);
  }
  HEARTH_ASSIGN(const auto fields, DecodeKeyMaterial(entry.key.material()));
  const std::optional<CacheDevice> device = DeviceOf(fields);
  if (device.has_value() != promised.device.has_value() ||
      (device && *device != manifest().devices[*promised.device])) {
    return Error(StatusCode::kIoError, "entry {} of the bundle is for another device than its manifest says", name);
  }
  return entry;
}

Result<Manifest> ReadBundleManifest(const fs::path& bundle) {
  HEARTH_ASSIGN(const std::unique_ptr<BundleReader> reader, BundleReader::Open(bundle, {}));
  return reader->manifest();
}

}  // namespace hearth
