#include "cache/bundle.h"

#include <algorithm>
#include <fstream>
#include <system_error>

#include "cache/entry_row.h"
#include "cache/report_access.h"
#include "cache/signed_manifest.h"
#include "cache/sqlite_store.h"
#include "core/base/sha256.h"
#include "core/plan/tuning.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kBatchBytes = uint64_t{32} << 20;

// A key with its blob, out of a store.
struct LoadedEntry {
  CacheKey key{BlobKind::kPlan};
  std::vector<std::byte> bytes;
  double cost_ms = 0;
};

// Puts loaded entries in batches.
class BatchedPuts {
 public:
  explicit BatchedPuts(BlobStore& store, std::string origin = {}) : store_(store), origin_(std::move(origin)) {}
  void Add(LoadedEntry entry) {
    held_bytes_ += entry.bytes.size();
    held_.push_back(std::move(entry));
    if (held_bytes_ >= kBatchBytes) Finish();
  }
  void Finish() {
    std::vector<PutRequest> requests;
    for (const LoadedEntry& entry : held_) requests.push_back({&entry.key, entry.bytes, entry.cost_ms, origin_});
    store_.Put(requests);
    held_.clear();
    held_bytes_ = 0;
  }

 private:
  BlobStore& store_;
  std::string origin_;
  std::vector<LoadedEntry> held_;
  uint64_t held_bytes_ = 0;
};

// The entry that `row` (of kEntryColumns and the checksum) describes, wholly verified; nullopt when it is damaged.
std::optional<LoadedEntry> LoadSound(Database& database, const Statement& row) {
  const std::span<const std::byte> material = row.Blob(2);
  const std::string_view text(reinterpret_cast<const char*>(material.data()), material.size());
  const std::optional<BlobKind> kind = BlobKindFromName(row.Text(1));
  const auto fields = DecodeKeyMaterial(text);
  if (!kind || !fields.ok()) return std::nullopt;
  LoadedEntry entry;
  entry.key = CacheKey(*kind);
  for (const auto& [name, value] : *fields) entry.key.Add(name, value);
  if (entry.key.digest() != FingerprintFrom(row.Blob(0))) return std::nullopt;
  Result<BlobReader> blob = database.OpenBlob("blobs", "bytes", row.Number(7));
  if (!blob.ok() || row.Number(3) < 0 || static_cast<uint64_t>(row.Number(3)) != blob->size_bytes()) {
    return std::nullopt;
  }
  entry.bytes.resize(blob->size_bytes());
  if (!blob->Read(entry.bytes).ok() || FingerprintOf(entry.bytes) != FingerprintFrom(row.Blob(9))) return std::nullopt;
  entry.cost_ms = row.Real(4);
  return entry;
}

constexpr const char* kColumnsWithChecksum =
    "SELECT digest, kind, material, size_bytes, cost_ms, created_ms, last_used_ms, id, origin, checksum FROM entries";

ManifestEntry Describe(const LoadedEntry& entry, Manifest& manifest) {
  ManifestEntry described;
  described.kind = entry.key.kind();
  described.digest = entry.key.digest();
  described.size_bytes = entry.bytes.size();
  described.blob_sha256 = Sha256Of(entry.bytes);
  described.material_sha256 = Sha256Of(BytesOf(entry.key.material()));
  const auto fields = DecodeKeyMaterial(entry.key.material());
  if (const auto device = fields.ok() ? DeviceOf(*fields) : std::nullopt) {
    const auto found = std::ranges::find(manifest.devices, *device);
    described.device = static_cast<size_t>(found - manifest.devices.begin());
    if (found == manifest.devices.end()) manifest.devices.push_back(*device);
  }
  return described;
}

Status WriteText(const fs::path& file, const std::string& text) {
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out << text;
  if (out.flush()) return Status::Ok();
  return Error(StatusCode::kIoError, "can't write {}", file.string());
}

Status CopyEntries(const ExportRequest& request, Manifest& manifest, BundleExport& report) {
  HEARTH_ASSIGN(ReportedStore source, OpenForReport(request.store));
  StoreOptions options;
  options.folder = request.bundle;
  options.max_bytes = UINT64_MAX / 2;
  options.allow_write_ahead_log = false;
  HEARTH_ASSIGN(const std::unique_ptr<SqliteStore> target, SqliteStore::Open(options));
  BatchedPuts puts(*target);
  if (source.database) {
    HEARTH_ASSIGN(Statement rows, source.database->Prepare(kColumnsWithChecksum));
    while (true) {
      HEARTH_ASSIGN(const bool row, rows.Step());
      if (!row) break;
      if (!Matches(EntryFrom(rows), request.filter)) continue;
      std::optional<LoadedEntry> entry = LoadSound(*source.database, rows);
      if (!entry) {
        ++report.damaged_entries;
        continue;
      }
      manifest.entries.push_back(Describe(*entry, manifest));
      ++report.entries;
      report.blob_bytes += entry->bytes.size();
      report.native_entries += IsNativeCode(entry->key.kind());
      puts.Add(*std::move(entry));
    }
  }
  puts.Finish();
  if (target->counters().put_errors == 0) return Status::Ok();
  const std::vector<std::string> warnings = target->TakeWarnings();
  return Error(StatusCode::kIoError, "{}", warnings.empty() ? "the bundle can't be written" : warnings.front());
}

Status FillBundle(const ExportRequest& request, BundleExport& report) {
  Manifest manifest;
  manifest.made_by = request.made_by;
  if (request.valid_for_ms != 0) manifest.expires_ms = NowMs() + request.valid_for_ms;
  manifest.least_version = request.least_version;
  HEARTH_TRY(CopyEntries(request, manifest, report));
  report.devices = manifest.devices;
  std::error_code ignored;
  fs::remove(request.bundle / "hearth.lock", ignored);
  const std::string text = manifest.ToText();
  HEARTH_TRY(WriteText(request.bundle / kManifestName, text));
  if (!request.sign_with) return Status::Ok();
  HEARTH_ASSIGN(const Signature signature, Sign(*request.sign_with, BytesOf(text)));
  HEARTH_ASSIGN(const PublicKey public_key, PublicKeyOf(*request.sign_with));
  report.signed_by = HexOf(public_key);
  return WriteText(request.bundle / kSignatureName, HexOf(signature) + "\n");
}

// The bundle's entry that `promised` names, when all that was promised is so.
Result<LoadedEntry> LoadPromised(Database& database, const ManifestEntry& promised) {
  HEARTH_ASSIGN(Statement rows, database.Prepare(std::string(kColumnsWithChecksum) + " WHERE digest=?"));
  HEARTH_ASSIGN(const bool row, rows.Bind(0, promised.digest.bytes).Step());
  const std::string name = promised.digest.ToHex();
  if (!row) return Error(StatusCode::kIoError, "entry {} of the manifest is not in the bundle", name);
  std::optional<LoadedEntry> entry = LoadSound(database, rows);
  if (!entry) return Error(StatusCode::kIoError, "entry {} of the bundle is damaged", name);
  if (entry->key.kind() != promised.kind || entry->bytes.size() != promised.size_bytes ||
      Sha256Of(entry->bytes) != promised.blob_sha256 ||
      Sha256Of(BytesOf(entry->key.material())) != promised.material_sha256) {
    return Error(StatusCode::kIoError, "entry {} of the bundle is not what its manifest promises", name);
  }
  return *std::move(entry);
}

bool IsWanted(const ImportRequest& request, const Manifest& manifest, const ManifestEntry& entry) {
  if (!IsNativeCode(entry.kind) || !request.is_wanted) return true;
  return entry.device && request.is_wanted(manifest.devices[*entry.device]);
}

// The device is taken from the key: what the manifest says of it must be the same.
Status CheckDevice(const Manifest& manifest, const ManifestEntry& promised, const LoadedEntry& entry) {
  HEARTH_ASSIGN(const auto fields, DecodeKeyMaterial(entry.key.material()));
  const std::optional<CacheDevice> device = DeviceOf(fields);
  if (device.has_value() == promised.device.has_value() && (!device || *device == manifest.devices[*promised.device])) {
    return Status::Ok();
  }
  return Error(StatusCode::kIoError, "entry {} of the bundle is for another device than its manifest says",
               promised.digest.ToHex());
}

// What was measured here is not lost to what others measured: records of a layer's tuning add up.
void AddToStored(SqliteStore& store, LoadedEntry& entry) {
  if (entry.key.kind() != BlobKind::kTuning) return;
  const auto stored_bytes = store.Get(entry.key);
  if (!stored_bytes) return;
  const auto text_of = [](const std::vector<std::byte>& bytes) {
    return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  const Result<TuningRecord> stored = TuningRecordFromText(text_of(*stored_bytes));
  const Result<TuningRecord> imported = TuningRecordFromText(text_of(entry.bytes));
  if (!stored.ok() || !imported.ok() || *stored == *imported) return;
  const std::string merged = ToText(Merged(*stored, *imported));
  const std::span<const std::byte> bytes = BytesOf(merged);
  entry.bytes.assign(bytes.begin(), bytes.end());
}

Status ImportEntries(const ImportRequest& request, const Manifest& manifest, Database& database, BundleImport& report) {
  for (const ManifestEntry& promised : manifest.entries) {
    HEARTH_ASSIGN(const LoadedEntry entry, LoadPromised(database, promised));
    HEARTH_TRY(CheckDevice(manifest, promised, entry));
  }
  StoreOptions options;
  SessionWaits waits(kReportWaitMs);
  options.waits = &waits;
  options.folder = request.store;
  if (request.max_bytes > 0) options.max_bytes = request.max_bytes;
  HEARTH_ASSIGN(const std::unique_ptr<SqliteStore> target, SqliteStore::Open(options));
  BatchedPuts puts(*target, report.signed_by.empty() ? "bundle" : "bundle " + report.signed_by);
  for (const ManifestEntry& promised : manifest.entries) {
    if (!IsWanted(request, manifest, promised)) {
      ++report.other_devices;
      continue;
    }
    HEARTH_ASSIGN(LoadedEntry entry, LoadPromised(database, promised));  // the very bytes that are stored
    AddToStored(*target, entry);
    ++report.entries;
    report.blob_bytes += entry.bytes.size();
    puts.Add(std::move(entry));
  }
  puts.Finish();
  if (target->counters().put_errors == 0) return Status::Ok();
  const std::vector<std::string> warnings = target->TakeWarnings();
  return Error(StatusCode::kIoError, "{}", warnings.empty() ? "the store can't be written" : warnings.front());
}

}  // namespace

Result<BundleExport> ExportBundle(const ExportRequest& request) {
  std::error_code error;
  if (fs::exists(request.bundle, error) && !fs::is_empty(request.bundle, error)) {
    return Error(StatusCode::kInvalidArgument, "{} is there already and not an empty folder: name another",
                 request.bundle.string());
  }
  BundleExport report;
  report.folder = request.bundle.string();
  if (const Status status = FillBundle(request, report); !status.ok()) {
    for (const char* name : {kStoreFileName, kManifestName, kSignatureName, "hearth.lock"}) {
      fs::remove(request.bundle / name, error);
    }
    fs::remove(request.bundle, error);
    return status.Within(request.bundle.string());
  }
  return report;
}

Result<BundleImport> ImportBundle(const ImportRequest& request) {
  BundleImport report;
  HEARTH_ASSIGN(const SignedManifest bundle, ReadSignedManifest(request.bundle, request.trusted_keys));
  report.signed_by = bundle.signed_by;
  // This holds for every kind: programs run, plans say what they read and write, weights and tuning change results.
  if (!bundle.manifest.entries.empty() && report.signed_by.empty() && !request.is_trusted) {
    return Error(StatusCode::kIoError,
                 "{} holds {} entries that no trusted key has signed, and models would run with them: name the file of "
                 "the keys you trust, or say that you trust this bundle (--keys, --trust){}",
                 request.bundle.string(), bundle.manifest.entries.size(), WhyNoSignatures());
  }
  StoreOptions options;
  options.read_only = options.immutable = true;
  HEARTH_ASSIGN(options.folder, PrepareFolder(request.bundle, FolderUse::kReadOnlyLayer));
  WaitBudget waits(kReportWaitMs);
  Result<Database> database = OpenStoreFileAsItIs(options, waits);
  if (!database.ok()) return Status(StatusCode::kIoError, database.status().message());
  HEARTH_TRY(ImportEntries(request, bundle.manifest, *database, report));
  return report;
}

}  // namespace hearth
