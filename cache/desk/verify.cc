// The report that checks every entry: verify.
#include <utility>
#include <vector>

#include "cache/desk/report_access.h"
#include "cache/desk/reports.h"
#include "cache/store/entry_row.h"
#include "cache/store/removal.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;

// Checks key, size and checksum of one entry. Empty if all are right.
std::string DamageOf(Database& database, Statement& entry, uint64_t& read_bytes) {
  const std::string keyed = std::string(entry.Text(1)) + '\0';
  std::vector<std::byte> hashed(std::as_bytes(std::span(keyed)).begin(), std::as_bytes(std::span(keyed)).end());
  const std::span<const std::byte> material = entry.Blob(2);
  hashed.insert(hashed.end(), material.begin(), material.end());
  if (FingerprintOf(hashed) != FingerprintFrom(entry.Blob(0))) return "its key does not hash to its digest";

  Result<BlobReader> blob = database.OpenBlob("blobs", "bytes", entry.Number(7));
  if (!blob.ok()) return blob.status().message();
  if (entry.Number(3) < 0 || static_cast<uint64_t>(entry.Number(3)) != blob->size_bytes()) return "its size is wrong";
  if (!entry.MayRead(blob->size_bytes())) return "its bytes are those of other entries too";
  std::vector<std::byte> bytes(blob->size_bytes());
  if (const Status status = blob->Read(bytes); !status.ok()) return status.message();
  read_bytes += bytes.size();
  if (FingerprintOf(bytes) != FingerprintFrom(entry.Blob(9))) return "its checksum is wrong";
  return {};
}

Status CheckStructure(Database& database, CacheVerification& report) {
  HEARTH_ASSIGN(Statement check, database.Prepare("PRAGMA integrity_check(20)"));
  while (true) {
    HEARTH_ASSIGN(const bool row, check.Step());
    if (!row) break;
    if (check.Text(0) != "ok") report.damages.push_back({kStoreFileName, std::string(check.Text(0))});
  }
  HEARTH_ASSIGN(const int64_t orphans,
                database.Number("SELECT count(*) FROM blobs WHERE id NOT IN (SELECT id FROM entries)"));
  if (orphans != 0) report.damages.push_back({kStoreFileName, fmt::format("{} blobs belong to no entry", orphans)});
  return Status::Ok();
}

Status CheckEntries(Database& database, CacheVerification& report, std::vector<int64_t>& damaged) {
  HEARTH_ASSIGN(Statement entries,
                database.Prepare("SELECT digest, kind, material, size_bytes, cost_ms, created_ms, last_used_ms, id, "
                                 "origin, checksum FROM entries"));
  while (true) {
    HEARTH_ASSIGN(const bool row, entries.Step());
    if (!row) return Status::Ok();
    ++report.checked_entries;
    const std::string what = DamageOf(database, entries, report.checked_bytes);
    if (what.empty()) continue;
    damaged.push_back(entries.Number(7));
    report.damages.push_back({FingerprintFrom(entries.Blob(0)).ToHex(), what});
  }
}

// With the programs that need a damaged source: without it they are of no use.
Status DeleteDamaged(Database& database, const std::vector<int64_t>& damaged) {
  HEARTH_ASSIGN(const std::vector<int64_t> useless, WithTheirPrograms(database, damaged));
  return DeleteInBatches(database, useless);
}

Status VerifyOpened(ReportedStore& store, bool repair, CacheVerification& report) {
  report = {};
  if (!store.database) return Status::Ok();
  std::vector<int64_t> damaged_entries;
  Status status = CheckStructure(*store.database, report);
  if (status.ok()) status = CheckEntries(*store.database, report, damaged_entries);
  if (!status.ok() && status.code() != StatusCode::kMalformedInput) return status;
  if (!status.ok()) report.damages.push_back({kStoreFileName, status.message()});
  if (report.clean() || !repair) return Status::Ok();
  HEARTH_TRY(CheckMayChange(store));

  const bool is_file_sound = report.damages.size() == damaged_entries.size();
  if (is_file_sound) {
    const Status deleted = DeleteDamaged(*store.database, damaged_entries);
    if (deleted.ok()) {
      static_cast<void>(ShrinkInPlace(*store.database));  // the store is sound without it
      report.repaired = true;
    }
    if (deleted.code() != StatusCode::kMalformedInput) return deleted;
  }
  const fs::path file = store.database->file();
  const FileIdentity checked = IdentityOfOpened(*store.database);
  CloseStoreFile(store.database, store.options.folder, *store.waits);
  // Another file may have its name by now.
  WaitBudget waits(kReportWaitMs);
  HEARTH_TRY(MoveAside(store.options, file, waits, checked));
  report.repaired = true;
  return Status::Ok();
}

Result<CacheVerification> VerifyOnce(const fs::path& folder, bool repair) {
  CacheVerification report;
  bool is_opened = false;
  const Status done = ChangeStoreAsItIs(folder, [&](ReportedStore& store) {
    is_opened = true;
    return VerifyOpened(store, repair, report);
  });
  if (done.ok()) return report;
  if (is_opened || done.code() != StatusCode::kMalformedInput) return AsDamageOfStore(done);
  report.damages.push_back({kStoreFileName, done.message()});
  if (!repair) return report;
  StoreOptions options;
  HEARTH_ASSIGN(options.folder, PrepareFolder(folder, FolderUse::kExisting));
  WaitBudget waits(kReportWaitMs);
  HEARTH_TRY(MoveDamagedAside(options, waits));
  report.repaired = true;
  return report;
}

}  // namespace

Result<CacheVerification> VerifyStore(const fs::path& folder, bool repair) {
  HEARTH_ASSIGN(CacheVerification found, VerifyOnce(folder, false));
  // A disk may misread once, so only damage that shows again is deleted.
  if (found.clean() || !repair) return found;
  return VerifyOnce(folder, true);
}

}  // namespace hearth
