// The report that checks every entry: verify.
#include <utility>
#include <vector>

#include "cache/desk/report_access.h"
#include "cache/desk/reports.h"
#include "cache/store/entry_row.h"
#include "cache/store/removal.h"
#include "core/base/text.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;

Status CheckStructure(Database& database, CacheVerification& report) {
  HEARTH_ASSIGN(Statement check, database.Prepare("PRAGMA integrity_check(20)"));
  HEARTH_TRY(check.ForEachRow([&] {
    if (check.Text(0) != "ok") report.damages.push_back({kStoreFileName, std::string(check.Text(0))});
  }));
  HEARTH_ASSIGN(const int64_t orphans,
                database.Number("SELECT count(*) FROM blobs WHERE id NOT IN (SELECT id FROM entries)"));
  if (orphans != 0) report.damages.push_back({kStoreFileName, fmt::format("{} blobs belong to no entry", orphans)});
  return Status::Ok();
}

Status CheckEntries(Database& database, CacheVerification& report, std::vector<int64_t>& damaged) {
  HEARTH_ASSIGN(Statement entries, database.Prepare(kEntryColumns));
  return entries.ForEachRow([&] {
    ++report.checked_entries;
    std::vector<std::byte> bytes;
    const std::string what = DamageOf(database, entries, bytes);
    report.checked_bytes += bytes.size();
    if (what.empty()) return;
    damaged.push_back(entries.Number(7));
    report.damages.push_back({FingerprintFrom(entries.Blob(0)).ToHex(), what});
  });
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

std::string DamageOf(Database& database, Statement& row, std::vector<std::byte>& bytes) {
  const std::string keyed = std::string(row.Text(1)).append(1, '\0').append(TextFrom(row.Blob(2)));
  if (FingerprintOf(BytesOf(keyed)) != FingerprintFrom(row.Blob(0))) return "its key does not hash to its digest";
  Result<BlobReader> blob = database.OpenBlob("blobs", "bytes", row.Number(7));
  if (!blob.ok()) return blob.status().message();
  if (row.Number(3) < 0 || static_cast<uint64_t>(row.Number(3)) != blob->size_bytes()) return "its size is wrong";
  if (!row.MayRead(blob->size_bytes())) return "its bytes are those of other entries too";
  std::vector<std::byte> read(blob->size_bytes());
  if (const Status status = blob->Read(read); !status.ok()) return status.message();
  bytes = std::move(read);
  return FingerprintOf(bytes) == FingerprintFrom(row.Blob(9)) ? "" : "its checksum is wrong";
}

Result<CacheVerification> VerifyStore(const fs::path& folder, bool repair) {
  HEARTH_ASSIGN(CacheVerification found, VerifyOnce(folder, false));
  // A disk may misread once, so only damage that shows again is deleted.
  if (found.clean() || !repair) return found;
  return VerifyOnce(folder, true);
}

}  // namespace hearth
