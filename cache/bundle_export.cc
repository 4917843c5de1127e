#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <system_error>
#include <utility>

#include "cache/batched_puts.h"
#include "cache/bundle.h"
#include "cache/bundle_file.h"
#include "cache/bundle_reader.h"
#include "cache/entry_filter.h"
#include "cache/entry_row.h"
#include "cache/held_signal.h"
#include "cache/latest_time.h"
#include "cache/needed_source.h"
#include "cache/report_access.h"
#include "cache/reports.h"
#include "cache/trusted_path.h"
#include "core/base/error.h"
#include "core/base/sha256.h"
#include "core/base/text_bytes.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;

// The bundle that is written. The destructor removes an unfinished one.
class BundleWriter {
 public:
  virtual ~BundleWriter() = default;
  virtual Status AddTexts(const BundleTexts& texts) = 0;  // call it first
  virtual Status Add(BundleEntry entry) = 0;              // call it in the order of the manifest
  virtual Status Finish() = 0;
};

class FileWriter final : public BundleWriter {
 public:
  explicit FileWriter(BundleFileWriter file) : file_(std::move(file)) {}
  Status AddTexts(const BundleTexts& texts) override { return file_.AddTexts(texts); }
  Status Add(BundleEntry entry) override {
    return file_.AddEntry(entry.key.digest(), entry.key.material(), entry.bytes);
  }
  Status Finish() override { return file_.Finish(); }

 private:
  BundleFileWriter file_;
};

class FolderWriter final : public BundleWriter {
 public:
  explicit FolderWriter(fs::path folder) : folder_(std::move(folder)) {}
  ~FolderWriter() override {
    if (is_finished_ || !is_begun_) return;
    store_.reset();
    std::error_code ignored;
    for (const char* name : {kStoreFileName, kManifestName, kSignatureName, kLockName}) {
      fs::remove(folder_ / name, ignored);
    }
    if (is_folder_ours_) fs::remove(folder_, ignored);
  }

  Status AddTexts(const BundleTexts& texts) override {
    HEARTH_TRY(PrepareOwn());
    StoreOptions options;
    options.folder = folder_;
    options.max_bytes = UINT64_MAX / 2;
    options.allow_write_ahead_log = false;
    HEARTH_ASSIGN(store_, SqliteStore::Open(options));
    puts_.emplace(*store_);
    HEARTH_TRY(WriteText(kManifestName, texts.manifest));
    return texts.signature.empty() ? Status::Ok() : WriteText(kSignatureName, texts.signature);
  }

  Status Add(BundleEntry entry) override {
    puts_->Add(std::move(entry));
    return Status::Ok();
  }

  Status Finish() override {
    HEARTH_TRY(puts_->Finish());
    store_.reset();
    std::error_code ignored;
    fs::remove(folder_ / kLockName, ignored);
    is_finished_ = true;
    return Status::Ok();
  }

 private:
  static constexpr const char* kLockName = "hearth.lock";

  // Under the rules of those that will read it: a folder for all is refused.
  Status PrepareOwn() {
    HEARTH_ASSIGN(const fs::path folder, TrustedPath(folder_, LastName::kKept, MissingFolders::kAreMade));
    std::error_code ignored;
    is_folder_ours_ = !fs::exists(folder, ignored);
    HEARTH_TRY(MakePrivateFolder(folder));
    HEARTH_ASSIGN(folder_, PrepareFolder(folder, FolderUse::kReadOnlyLayer));
    is_begun_ = true;
    return Status::Ok();
  }

  Status WriteText(const char* name, const std::string& text) const {
    const HeldSizeSignal held;
    const fs::path file = folder_ / name;
    std::ofstream out(file, std::ios::binary | std::ios::trunc);
    out << text;
    // Whatever the umask is: imports refuse a bundle that others may write.
    constexpr fs::perms kAsTheStore = fs::perms::owner_read | fs::perms::owner_write;
    std::error_code error;
    if (out.flush()) fs::permissions(file, kAsTheStore, error);
    if (out && !error) return Status::Ok();
    return Error(StatusCode::kIoError, "can't write {}: {}", file.string(), std::strerror(errno));
  }

  fs::path folder_;
  std::unique_ptr<SqliteStore> store_;
  std::optional<BatchedPuts> puts_;
  bool is_folder_ours_ = false;                  // it was made here
  bool is_begun_ = false, is_finished_ = false;  // begun: the folder may be filled
};

Result<std::unique_ptr<BundleWriter>> WriterFor(const fs::path& bundle) {
  if (bundle.extension() == kBundleFileSuffix) {
    HEARTH_ASSIGN(BundleFileWriter file, BundleFileWriter::Create(bundle));
    return std::unique_ptr<BundleWriter>(std::make_unique<FileWriter>(std::move(file)));
  }
  std::error_code error;
  if (fs::exists(bundle, error) && !fs::is_empty(bundle, error)) {
    return Error(StatusCode::kInvalidArgument, "{} exists and is not an empty folder: choose another name",
                 bundle.string());
  }
  return std::unique_ptr<BundleWriter>(std::make_unique<FolderWriter>(bundle));
}

ManifestEntry Describe(const BundleEntry& entry, Manifest& manifest) {
  ManifestEntry described;
  described.kind = entry.key.kind();
  described.digest = entry.key.digest();
  described.size_bytes = entry.bytes.size();
  described.blob_sha256 = Sha256Of(entry.bytes);
  described.material_sha256 = Sha256Of(BytesOf(entry.key.material()));
  described.material_bytes = entry.key.material().size();
  described.cost_ms = std::isfinite(entry.cost_ms) ? std::max(entry.cost_ms, 0.0) : 0;
  const auto fields = DecodeKeyMaterial(entry.key.material());
  if (const auto device = fields.ok() ? DeviceOf(*fields) : std::nullopt) {
    const auto found = std::ranges::find(manifest.devices, *device);
    described.device = static_cast<size_t>(found - manifest.devices.begin());
    if (found == manifest.devices.end()) manifest.devices.push_back(*device);
  }
  return described;
}

// Whoever has the base must have the entries that the delta leaves out. A base that is wrong, or that imports refuse,
// would leave its users without them.
Status CheckBase(const ExportRequest& request, std::span<const PublicKey> keys, BundleReader& base) {
  HEARTH_TRY(base.manifest().CheckUsable(NowMs(), request.made_by, LatestTimeMsIn(request.store)));
  if (!keys.empty() && base.signed_by().empty()) {
    return Error(StatusCode::kIoError,
                 "no trusted key has signed it, so the users of the new bundle may lack the entries that it leaves "
                 "out: name the file of the key that signed it (--keys), or export everything (without --since){}",
                 WhyNoSignatures());
  }
  for (size_t k = 0; k < base.manifest().entries.size(); ++k) HEARTH_TRY(base.Check(k));
  return Status::Ok();
}

// The SHA-256 of the base's blobs, by entry; also sets the base in `manifest`.
using KnownBlobs = std::map<Fingerprint, std::array<uint8_t, 32>>;
Result<KnownBlobs> BlobsOfBase(const ExportRequest& request, Manifest& manifest) {
  KnownBlobs known;
  if (request.since.empty()) return known;
  std::vector<PublicKey> keys = request.trusted_keys;
  if (request.sign_with) {
    HEARTH_ASSIGN(keys.emplace_back(), PublicKeyOf(*request.sign_with));
  }
  HEARTH_ASSIGN(const std::unique_ptr<BundleReader> base, BundleReader::Open(request.since, keys));
  HEARTH_TRY(CheckBase(request, keys, *base).Within(request.since.string()));
  for (const ManifestEntry& entry : base->manifest().entries) known.emplace(entry.digest, entry.blob_sha256);
  manifest.base = ManifestBase{base->manifest_sha256(), 0};
  return known;
}

// What goes into a bundle.
struct BundleContent {
  Manifest& manifest;
  const KnownBlobs& known;                       // what the base has
  std::set<Fingerprint> digests;                 // of the bundle's entries and the base's
  std::map<Fingerprint, Fingerprint> source_of;  // of programs that are of no use without it
  std::set<Fingerprint> damaged;                 // left out
};

// Adds the entry in a row of `kBundleColumns`.
void AddEntry(Database& database, Statement& row, BundleContent& content) {
  const std::optional<BundleEntry> entry = LoadSound(database, row);
  if (!entry) {
    content.damaged.insert(FingerprintFrom(row.Blob(0)));
    return;
  }
  const Fingerprint digest = entry->key.digest();
  content.digests.insert(digest);
  if (const auto source = SourceNeededBy(entry->key, entry->bytes)) content.source_of.emplace(digest, source->digest());
  const auto found = content.known.find(digest);
  if (found != content.known.end() && found->second == Sha256Of(entry->bytes)) {
    ++content.manifest.base->left_out;
  } else {
    content.manifest.entries.push_back(Describe(*entry, content.manifest));
  }
}

// Sources go with the selected programs, whatever else the filter says. A program whose source is gone stays behind.
Status AddSources(Database& database, BundleContent& content) {
  HEARTH_ASSIGN(Statement rows, database.Prepare(std::string(kBundleColumns) + " WHERE digest=?"));
  for (const auto& [program, source] : std::map(content.source_of)) {
    if (content.digests.contains(source)) continue;
    const StatementScope scope(rows);
    HEARTH_ASSIGN(const bool row, rows.Bind(0, source.bytes).Step());
    if (row) AddEntry(database, rows, content);
  }
  std::erase_if(content.manifest.entries, [&](const ManifestEntry& entry) {
    const auto needed = content.source_of.find(entry.digest);
    return needed != content.source_of.end() && !content.digests.contains(needed->second) &&
           !content.known.contains(needed->second);
  });
  return Status::Ok();
}

// Sorted by digest, whatever the order of the store, so that equal entries make equal bundles.
Status DescribeEntries(const CacheFilter& filter, Database& database, BundleContent& content) {
  HEARTH_ASSIGN(Statement rows, database.Prepare(std::string(kBundleColumns) + " ORDER BY digest"));
  while (true) {
    HEARTH_ASSIGN(const bool row, rows.Step());
    if (!row) break;
    if (Matches(EntryFrom(rows), filter)) AddEntry(database, rows, content);
  }
  HEARTH_TRY(AddSources(database, content));
  std::ranges::sort(content.manifest.entries, {}, &ManifestEntry::digest);
  return Status::Ok();
}

void CountEntries(const Manifest& manifest, BundleExport& report) {
  report.entries = manifest.entries.size();
  for (const ManifestEntry& entry : manifest.entries) {
    report.blob_bytes += entry.size_bytes;
    report.native_entries += IsNativeCode(entry.kind);
  }
}

Status CopyEntries(const Manifest& manifest, Database& database, BundleWriter& writer) {
  HEARTH_ASSIGN(Statement rows, database.Prepare(std::string(kBundleColumns) + " WHERE digest=?"));
  for (const ManifestEntry& promised : manifest.entries) {
    const StatementScope scope(rows);
    HEARTH_ASSIGN(const bool row, rows.Bind(0, promised.digest.bytes).Step());
    std::optional<BundleEntry> entry = row ? LoadSound(database, rows) : std::nullopt;
    if (!entry || Sha256Of(entry->bytes) != promised.blob_sha256) {
      return Error(StatusCode::kIoError, "entry {} changed while it was exported", promised.digest.ToHex());
    }
    HEARTH_TRY(writer.Add(*std::move(entry)));
  }
  return Status::Ok();
}

Result<BundleTexts> TextsOf(const Manifest& manifest, const std::optional<SigningKey>& key, BundleExport& report) {
  BundleTexts texts{manifest.ToText(), {}};
  if (texts.manifest.size() > kMaxManifestBytes || manifest.devices.size() > kMaxDevices) {
    return Error(StatusCode::kInvalidArgument,
                 "{} entries for {} devices do not fit a bundle: export them in parts (--kind, --device)",
                 manifest.entries.size(), manifest.devices.size());
  }
  if (!key) return texts;
  HEARTH_ASSIGN(const Signature signature, Sign(*key, BytesOf(texts.manifest)));
  HEARTH_ASSIGN(const PublicKey public_key, PublicKeyOf(*key));
  texts.signature = HexOf(signature) + "\n";
  report.signed_by = HexOf(public_key);
  return texts;
}

Status FillBundle(const ExportRequest& request, BundleWriter& writer, BundleExport& report) {
  Manifest manifest;
  manifest.made_by = request.made_by;
  manifest.expires_ms = request.expires_ms;
  // A clock before 1970 tells no time, and no manifest may have one that is negative.
  if (manifest.expires_ms != 0) manifest.made_ms = std::max<int64_t>(0, request.made_ms);
  manifest.least_version = request.least_version;
  HEARTH_ASSIGN(const KnownBlobs known, BlobsOfBase(request, manifest));
  HEARTH_ASSIGN(ReportedStore source, OpenForReport(request.store));
  if (source.database) {
    HEARTH_TRY(source.database->Run("BEGIN"));  // so that the manifest describes what is copied
    BundleContent content{manifest, known};
    HEARTH_TRY(AsDamageOfStore(OfStore(source, DescribeEntries(request.filter, *source.database, content))));
    report.damaged_entries = content.damaged.size();
  }
  CountEntries(manifest, report);
  report.devices = manifest.devices;
  report.left_out = manifest.base ? manifest.base->left_out : 0;
  HEARTH_ASSIGN(const BundleTexts texts, TextsOf(manifest, request.sign_with, report));
  HEARTH_TRY(writer.AddTexts(texts));
  if (source.database) HEARTH_TRY(AsDamageOfStore(CopyEntries(manifest, *source.database, writer)));
  return writer.Finish();
}

}  // namespace

Result<BundleExport> ExportBundle(const ExportRequest& asked) {
  ExportRequest request = asked;
  HEARTH_ASSIGN(request.filter, CheckedFilter(asked.filter));
  if (request.expires_ms < 0) {
    return Error(StatusCode::kInvalidArgument, "the bundle would expire before 1970: set this machine's clock");
  }
  BundleExport report;
  report.folder = request.bundle.string();
  HEARTH_ASSIGN(const std::unique_ptr<BundleWriter> writer, WriterFor(request.bundle));
  HEARTH_TRY(FillBundle(request, *writer, report).Within(report.folder));
  return report;
}

}  // namespace hearth
