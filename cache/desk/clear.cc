// The reports that delete: clear, prune and the removal of a model.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cache/desk/report_access.h"
#include "cache/desk/reports.h"
#include "cache/files/locked_file.h"
#include "cache/files/store_names.h"
#include "cache/store/budget.h"
#include "cache/store/entry_filter.h"
#include "cache/store/entry_row.h"
#include "cache/store/models.h"
#include "cache/store/quarantine.h"
#include "cache/store/removal.h"
#include "cache/store/revocations.h"
#include "cache/store/rewrite.h"
#include "cache/store/sqlite_store.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;

Result<RemovedEntries> CountEntries(Database& database) {
  RemovedEntries sum;
  // Not summed by sqlite, for which sizes that are too large together are an error.
  HEARTH_ASSIGN(Statement rows, database.Prepare("SELECT size_bytes FROM entries"));
  HEARTH_TRY(rows.ForEachRow([&] {
    ++sum.entries;
    AddSize(sum.blob_bytes, SizeFrom(rows, 0));
  }));
  return sum;
}

// Counts only at the first call: ChangeStore may repeat the work.
Status CountOnce(Database& database, std::optional<RemovedEntries>& before) {
  if (before) return Status::Ok();
  HEARTH_ASSIGN(before, CountEntries(database));
  return Status::Ok();
}

// The difference to `before`; sessions may have stored more meanwhile.
Result<RemovedEntries> RemovedSince(const RemovedEntries& before, Database& database) {
  HEARTH_ASSIGN(const RemovedEntries after, CountEntries(database));
  return RemovedEntries{before.entries - std::min(before.entries, after.entries),
                        before.blob_bytes - std::min(before.blob_bytes, after.blob_bytes)};
}

// After all that may be deleted is gone; empty if the store fits.
Result<std::string> WhyStillLarger(Database& database, uint64_t max_bytes) {
  HEARTH_ASSIGN(const uint64_t used_bytes, UsedBytes(database));
  if (used_bytes <= max_bytes) return std::string();
  HEARTH_ASSIGN(const LeastSize least, LeastSizeOf(database));
  return fmt::format("the store still takes {} bytes, more than {}: {}", used_bytes, max_bytes,
                     WhyTooSmall(least, max_bytes));
}

// Runs `work` on the store; if the disk is full, again without side files.
template <typename Work>
Status RunEvenOnAFullDisk(ReportedStore& store, const Work& work) {
  HEARTH_TRY(CheckMayChange(store));
  Status status = store.database->read_only()
                      ? Error(StatusCode::kResourceExhausted, "{}", FullDiskText(store.options.folder))
                      : work();
  if (status.code() != StatusCode::kResourceExhausted) return status;
  const fs::path file = store.database->file();
  CloseStoreFile(store.database, store.options.folder, *store.waits);
  HEARTH_ASSIGN(store.database, OpenWithoutSideFiles(store.options, file, *store.waits));
  status = work();
  // Turns the log on again, which needs a side file. If there is no room even for that, the next opener does it.
  static_cast<void>(store.database->Run("PRAGMA journal_mode=WAL"));
  return status.Within(file.string());
}

// Returns free pages to the file system. The store may be closed afterwards.
Status Shrink(ReportedStore& store) {
  if (IsFasterToRewrite(*store.database) && RewriteStore(store.options, store.database).ok()) return Status::Ok();
  const Status status = RunEvenOnAFullDisk(store, [&] { return ShrinkInPlace(*store.database); });
  // Whoever replaced the file has made it small.
  return store.database && store.database->has_moved() ? Status::Ok() : status;
}

// Replaces the file: deleting row by row takes seconds for each gigabyte and needs disk space. Sessions that have the
// old file open notice that and continue in the new one.
Result<RemovedEntries> ClearAll(const fs::path& folder) {
  RemovedEntries removed;
  StoreOptions options;
  Result<fs::path> prepared = PrepareFolder(folder, FolderUse::kExisting);
  if (prepared.status().code() == StatusCode::kNotFound) return removed;
  HEARTH_ASSIGN(options.folder, std::move(prepared));
  if (Result<ReportedStore> store = OpenAsItIs(folder); store.ok()) {
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

// The selected rows of the table of entries.
struct Selection {
  std::vector<int64_t> ids;
  RemovedEntries sum;
};
Result<Selection> Selected(Database& database, const CacheFilter& filter) {
  Selection selection;
  std::set<Fingerprint> spared;
  if (filter.spares_pinned) {
    HEARTH_ASSIGN(spared, PinnedDigests(database));
  }
  HEARTH_ASSIGN(Statement rows, database.Prepare(kEntryColumns));
  HEARTH_TRY(rows.ForEachRow([&] {
    const CacheEntry entry = EntryFrom(rows);
    if (!Matches(entry, filter) || spared.contains(FingerprintFrom(rows.Blob(0)))) return;
    selection.ids.push_back(rows.Number(7));
    ++selection.sum.entries;
    AddSize(selection.sum.blob_bytes, entry.size_bytes);
  }));
  return selection;
}

// Adds the programs that need selected sources: without these they are of no use.
Status AddPrograms(Database& database, Selection& selection) {
  HEARTH_ASSIGN(std::vector<int64_t> all, WithTheirPrograms(database, selection.ids));
  HEARTH_ASSIGN(Statement size, database.Prepare("SELECT size_bytes FROM entries WHERE id=?"));
  for (size_t k = 0; k < all.size() - selection.ids.size(); ++k) {
    const StatementScope scope(size);
    HEARTH_ASSIGN(const bool row, size.Bind(0, all[k]).Step());
    if (!row) continue;
    ++selection.sum.entries;
    AddSize(selection.sum.blob_bytes, SizeFrom(size, 0));
  }
  selection.ids = std::move(all);
  return Status::Ok();
}

constexpr size_t kLeastKeyDigits = 8;

Status TooFewDigits(std::string_view digits) {
  return Error(StatusCode::kInvalidArgument,
               "no entry is signed by a key that begins with '{}': give at least {} of its digits to revoke it anyway",
               digits, kLeastKeyDigits);
}

// Completes the first digits of a key from those that signed entries: a few digits must not revoke keys that nobody
// meant.
Status CompleteKey(Database& database, std::string& digits) {
  std::set<std::string> keys;
  HEARTH_ASSIGN(Statement origins, database.Prepare("SELECT DISTINCT origin FROM entries"));
  HEARTH_TRY(origins.ForEachRow([&] {
    const std::string_view signer = SignerIn(origins.Text(0));
    if (!signer.empty() && signer.starts_with(digits)) keys.emplace(signer);
  }));
  if (keys.size() > 1) {
    return Error(StatusCode::kInvalidArgument, "{} keys begin with '{}': give more digits of the one to revoke: {}",
                 keys.size(), digits, fmt::join(keys, ", "));
  }
  if (keys.size() == 1) {
    digits = *keys.begin();
  } else if (digits.size() < kLeastKeyDigits) {
    return TooFewDigits(digits);
  }
  return Status::Ok();
}

// A revocation is of a key, not of some of its entries: with another condition most of these would stay, although the
// key is revoked.
Status CheckStandsAlone(CacheFilter filter) {
  filter.signed_by.clear();
  if (!IsRestricted(filter)) return Status::Ok();
  return Error(StatusCode::kInvalidArgument,
               "a key is revoked with all that it has signed: no other condition can be given with it");
}

// The store remembers the revocation for sessions and imports that trust the key later, which are told of it.
Status MakeMissingStore(const fs::path& folder, std::string_view digits) {
  {
    HEARTH_ASSIGN(const ReportedStore store, OpenForReport(folder));
    if (store.database) return Status::Ok();
  }
  if (digits.size() < kLeastKeyDigits) return TooFewDigits(digits);
  SessionWaits waits(kReportWaitMs);
  StoreOptions options;
  options.folder = folder;
  options.waits = &waits;
  return SqliteStore::Open(std::move(options)).status();
}

// Preparations before the entries are selected.
Status PrepareToSelect(Database& database, CacheFilter& filter) {
  if (!filter.signed_by.empty()) HEARTH_TRY(CompleteKey(database, filter.signed_by));
  // Must come first: from here on sessions store nothing of that key, and the selection finds what they stored before.
  if (!filter.signed_by.empty()) HEARTH_TRY(NoteRevocation(database, filter.signed_by));
  return filter.unused_since_ms ? SetFutureStampsRight(database) : Status::Ok();
}

}  // namespace

Result<RemovedEntries> ClearStore(const fs::path& folder, const CacheFilter& asked) {
  HEARTH_ASSIGN(CacheFilter filter, CheckedFilter(asked));
  if (!IsRestricted(filter)) return ClearAll(folder);
  const bool is_revocation = !filter.signed_by.empty();
  if (is_revocation) {
    HEARTH_TRY(CheckStandsAlone(filter));
    HEARTH_TRY(MakeMissingStore(folder, filter.signed_by));
  }
  std::optional<RemovedEntries> removed;  // what was selected first
  HEARTH_TRY(ChangeStore(folder, [&](ReportedStore& store) -> Status {
    if (!store.database && is_revocation)
      return Error(StatusCode::kIoError, "there is no store in {}: nothing was revoked", folder.string());
    if (!store.database) return Status::Ok();
    HEARTH_TRY(RunEvenOnAFullDisk(store, [&] { return PrepareToSelect(*store.database, filter); }));
    HEARTH_ASSIGN(Selection selection, Selected(*store.database, filter));
    HEARTH_TRY(AddPrograms(*store.database, selection));
    if (!removed) removed = selection.sum;
    removed->revoked_key = filter.signed_by;
    if (is_revocation) {
      removed->other_formats_bytes = OtherFormatsBytes(store.options.folder, store.database->file());
    }
    HEARTH_TRY(RunEvenOnAFullDisk(store, [&]() -> Status {
      HEARTH_TRY(DeleteInBatches(*store.database, selection.ids));
      return filter.kind.empty() ? Status::Ok() : LiftQuarantine(*store.database, filter.kind).status();
    }));
    return Shrink(store);
  }));
  return removed.value_or(RemovedEntries{});
}

Result<RemovedEntries> RemoveModel(const fs::path& folder, std::string_view model) {
  std::optional<RemovedEntries> before;
  RemovedEntries removed;
  HEARTH_TRY(ChangeStore(folder, [&](ReportedStore& store) -> Status {
    if (!store.database) return Error(StatusCode::kNotFound, "there is no cache in {} yet", folder.string());
    HEARTH_TRY(CheckMayChange(store));
    HEARTH_TRY(CountOnce(*store.database, before));
    HEARTH_ASSIGN(const int64_t id, FindModel(*store.database, model));
    HEARTH_ASSIGN(std::vector<int64_t> own, OwnEntries(*store.database, id));
    HEARTH_ASSIGN(own, WithTheirPrograms(*store.database, own));
    HEARTH_TRY(RunEvenOnAFullDisk(store, [&] { return DeleteInBatches(*store.database, own); }));
    // Last, so that the command can be repeated if it ends early.
    HEARTH_TRY(RunEvenOnAFullDisk(store, [&] { return ForgetModel(*store.database, id); }));
    HEARTH_ASSIGN(removed, RemovedSince(*before, *store.database));
    return Shrink(store);
  }));
  return removed;
}

Result<RemovedEntries> PruneStore(const fs::path& folder, uint64_t max_bytes) {
  std::optional<RemovedEntries> before;
  RemovedEntries removed;
  HEARTH_TRY(ChangeStore(folder, [&](ReportedStore& store) -> Status {
    if (!store.database) return Status::Ok();
    HEARTH_TRY(CountOnce(*store.database, before));
    RemoveWithSideFiles(DamagedFile(store.options.folder));
    RemoveWithSideFiles(ClearedFile(store.options.folder));
    RemoveUnfinished(store.options.folder);
    HEARTH_TRY(RunEvenOnAFullDisk(store, [&] { return DeleteDownTo(*store.database, max_bytes); }));
    HEARTH_ASSIGN(removed, RemovedSince(*before, *store.database));
    HEARTH_ASSIGN(removed.why_larger, WhyStillLarger(*store.database, max_bytes));
    return Shrink(store);
  }));
  return removed;
}

}  // namespace hearth
