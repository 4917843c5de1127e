// The reports that delete: clear and prune.
#include <unistd.h>

#include <system_error>
#include <utility>
#include <vector>

#include "cache/entry_row.h"
#include "cache/quarantine.h"
#include "cache/removal.h"
#include "cache/report_access.h"
#include "cache/reports.h"
#include "cache/store_names.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;

Result<RemovedEntries> CountEntries(Database& database) {
  HEARTH_ASSIGN(const int64_t entries, database.Number("SELECT count(*) FROM entries"));
  HEARTH_ASSIGN(const int64_t bytes, database.Number("SELECT sum(size_bytes) FROM entries"));
  return RemovedEntries{static_cast<uint64_t>(entries), static_cast<uint64_t>(bytes)};
}

// Runs `work` on the store, and where the disk is too full for that once more without side files.
template <typename Work>
Status OnAFullDiskToo(ReportedStore& store, const Work& work) {
  Status status = store.database->read_only() ? Error(StatusCode::kResourceExhausted, "the disk is full") : work();
  if (status.code() != StatusCode::kResourceExhausted) return status;
  const fs::path file = store.database->file();
  store.database.reset();
  HEARTH_ASSIGN(store.database, OpenWithoutSideFiles(store.options, file, *store.waits));
  status = work();
  // From here on with a log again, which needs a side file: where even that has no place, the next opener sees to it.
  static_cast<void>(store.database->Run("PRAGMA journal_mode=WAL"));
  return status;
}

// Everything goes by way of another file: deleting row by row takes seconds for each gigabyte, and needs room on the
// disk. Sessions that have the old one open find that out and go on in the new one.
Result<RemovedEntries> ClearAll(const fs::path& folder) {
  RemovedEntries removed;
  StoreOptions options;
  Result<fs::path> prepared = PrepareFolder(folder, FolderUse::kExisting);
  if (prepared.status().code() == StatusCode::kNotFound) return removed;
  HEARTH_ASSIGN(options.folder, std::move(prepared));
  if (Result<ReportedStore> store = OpenForReport(folder); store.ok()) {
    if (!store->database) {
      RemoveWithSideFiles(DamagedFile(options.folder));
      return removed;
    }
    if (const Result<RemovedEntries> counted = CountEntries(*store->database); counted.ok()) removed = *counted;
  } else if (store.status().code() != StatusCode::kMalformedInput) {
    return store.status();
  }
  WaitBudget waits(kReportWaitMs);
  HEARTH_TRY(ReplaceStoreFile(options, waits));
  return removed;
}

bool IsRestricted(const CacheFilter& filter) {
  return !filter.kind.empty() || !filter.digest_prefix.empty() || !filter.field_contains.empty() ||
         !filter.device.empty() || filter.digests || filter.unused_since_ms || filter.spares_pinned ||
         !filter.origin.empty() || !filter.signed_by.empty();
}

}  // namespace

Result<RemovedEntries> ClearStore(const fs::path& folder, const CacheFilter& filter) {
  if (!IsRestricted(filter)) return ClearAll(folder);
  RemovedEntries removed;
  HEARTH_ASSIGN(ReportedStore store, OpenForReport(folder));
  if (!store.database) return removed;
  std::vector<int64_t> ids;
  std::set<Fingerprint> spared;
  if (filter.spares_pinned) {
    HEARTH_ASSIGN(spared, PinnedDigests(*store.database));
  }
  {
    HEARTH_ASSIGN(Statement rows, store.database->Prepare(kEntryColumns));
    while (true) {
      HEARTH_ASSIGN(const bool row, rows.Step());
      if (!row) break;
      const CacheEntry entry = EntryFrom(rows);
      if (!Matches(entry, filter) || spared.contains(FingerprintFrom(rows.Blob(0)))) continue;
      ids.push_back(rows.Number(7));
      ++removed.entries;
      removed.blob_bytes += entry.size_bytes;
    }
  }
  HEARTH_TRY(OnAFullDiskToo(store, [&]() -> Status {
    HEARTH_TRY(DeleteInBatches(*store.database, ids));
    const bool is_of_a_kind = IsRestricted(filter) && !filter.kind.empty();
    return is_of_a_kind ? LiftQuarantine(*store.database, filter.kind).status() : Status::Ok();
  }));
  return removed;
}

Result<std::vector<CacheModel>> ListModels(const fs::path& folder) {
  HEARTH_ASSIGN(ReportedStore store, OpenForReport(folder));
  if (!store.database) return std::vector<CacheModel>();
  return ReadModels(*store.database);
}

Result<std::vector<ModelUses>> ListUses(const fs::path& folder) {
  HEARTH_ASSIGN(ReportedStore store, OpenForReport(folder));
  if (!store.database) return std::vector<ModelUses>();
  return ReadUses(*store.database);
}

Result<CacheModel> DescribeModel(const fs::path& folder, std::string_view model) {
  HEARTH_ASSIGN(ReportedStore store, OpenForReport(folder));
  if (!store.database) return Error(StatusCode::kNotFound, "there is no cache in {} yet", folder.string());
  HEARTH_ASSIGN(const int64_t id, FindModel(*store.database, model));
  HEARTH_ASSIGN(const std::vector<CacheModel> models, ReadModels(*store.database, id));
  if (models.empty()) return Error(StatusCode::kNotFound, "the cache has just forgotten '{}'", model);
  return models.front();
}

Status SetPinned(const fs::path& folder, std::string_view model, bool is_pinned) {
  HEARTH_ASSIGN(ReportedStore store, OpenForReport(folder));
  if (!store.database) return Error(StatusCode::kNotFound, "there is no cache in {} yet", folder.string());
  HEARTH_ASSIGN(const int64_t id, FindModel(*store.database, model));
  return PinModel(*store.database, id, is_pinned);
}

Result<RemovedEntries> RemoveModel(const fs::path& folder, std::string_view model) {
  HEARTH_ASSIGN(ReportedStore store, OpenForReport(folder));
  if (!store.database) return Error(StatusCode::kNotFound, "there is no cache in {} yet", folder.string());
  HEARTH_ASSIGN(const RemovedEntries before, CountEntries(*store.database));
  HEARTH_ASSIGN(const int64_t id, FindModel(*store.database, model));
  HEARTH_ASSIGN(const std::vector<int64_t> own, ForgetModel(*store.database, id));
  HEARTH_TRY(OnAFullDiskToo(store, [&] { return DeleteInBatches(*store.database, own); }));
  HEARTH_ASSIGN(const RemovedEntries after, CountEntries(*store.database));
  return RemovedEntries{before.entries - std::min(before.entries, after.entries),
                        before.blob_bytes - std::min(before.blob_bytes, after.blob_bytes)};
}

Result<RemovedEntries> PruneStore(const fs::path& folder, uint64_t max_bytes) {
  HEARTH_ASSIGN(ReportedStore store, OpenForReport(folder));
  if (!store.database) return RemovedEntries{};
  HEARTH_ASSIGN(const RemovedEntries before, CountEntries(*store.database));
  RemoveWithSideFiles(DamagedFile(store.options.folder));
  HEARTH_TRY(OnAFullDiskToo(store, [&] { return DeleteDownTo(*store.database, max_bytes); }));
  HEARTH_ASSIGN(const RemovedEntries after, CountEntries(*store.database));
  // What sessions stored meanwhile may be more than what went.
  return RemovedEntries{before.entries - std::min(before.entries, after.entries),
                        before.blob_bytes - std::min(before.blob_bytes, after.blob_bytes)};
}

}  // namespace hearth
