#include "cache/desk/reports.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "cache/desk/report_access.h"
#include "cache/files/folder.h"
#include "cache/files/store_names.h"
#include "cache/store/entry_filter.h"
#include "cache/store/entry_row.h"
#include "cache/store/last_misses.h"
#include "cache/store/models.h"
#include "cache/store/quarantine.h"
#include "cache/store/session_records.h"
#include "core/base/error.h"
#include "core/base/text.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;

Status ReadCounters(Database& database, StoreCounters& counters) {
  HEARTH_ASSIGN(Statement rows, database.Prepare("SELECT name, value FROM counters"));
  return rows.ForEachRow([&] {
    const double value = rows.Real(1);
    if (!(value >= 0 && value < 1e18)) return;  // damaged
    const std::string_view name = rows.Text(0);
    const auto counter = std::ranges::find(kNamedCounters, name, &NamedCounter::name);
    if (counter == std::end(kNamedCounters)) return;
    if (counter->sum != nullptr) {
      counters.*counter->sum = value;
    } else {
      counters.*counter->count = static_cast<uint64_t>(value);
    }
  });
}

// Not grouped by sqlite, which would hold the kinds of all rows in memory before it counted the first.
Status CountEntries(Database& database, CacheStats& stats) {
  HEARTH_ASSIGN(Statement rows, database.Prepare("SELECT kind, size_bytes FROM entries"));
  return rows.ForEachRow([&] {
    const uint64_t bytes = SizeFrom(rows, 1);
    ++stats.entries;
    AddSize(stats.blob_bytes, bytes);
    const auto kind = stats.kinds.find(std::string(rows.Text(0)));
    if (kind == stats.kinds.end()) return;
    ++kind->second.entries;
    AddSize(kind->second.blob_bytes, bytes);
  });
}

Status ReadTables(Database& database, CacheStats& stats) {
  HEARTH_TRY(CountEntries(database, stats));
  HEARTH_ASSIGN(const auto quarantine, ReadQuarantine(database));
  stats.quarantined = quarantine.size();
  for (const auto& [digest, record] : quarantine) stats.barred += record.strikes >= kMaxStrikes;
  return ReadCounters(database, stats.lifetime);
}

// What `read` reads in the store of `folder`; an empty value where there is none.
template <typename Read>
auto ReadFrom(const fs::path& folder, const Read& read) -> decltype(read(std::declval<Database&>())) {
  HEARTH_ASSIGN(ReportedStore store, OpenForReport(folder));
  if (!store.database) return std::remove_cvref_t<decltype(read(*store.database).value())>();
  return OfStore(store, read(*store.database));
}

Result<CacheModel> ReadModel(Database& database, std::string_view model) {
  HEARTH_ASSIGN(const int64_t id, FindModel(database, model));
  HEARTH_ASSIGN(const std::vector<CacheModel> models, ReadModels(database, id));
  if (models.empty()) return Error(StatusCode::kNotFound, "the cache has just forgotten '{}'", model);
  return models.front();
}

}  // namespace

Result<ReportedStore> OpenAsItIs(const fs::path& folder) {
  ReportedStore store;
  Result<fs::path> prepared = PrepareFolder(folder, FolderUse::kExisting);
  if (!prepared.ok()) {
    store.options.folder = folder;
    if (prepared.status().code() == StatusCode::kNotFound) return store;
    return prepared.status();
  }
  store.options.folder = *prepared;
  store.waits = std::make_unique<WaitBudget>(kReportWaitMs);
  Result<Database> opened = OpenStoreFileAsItIs(store.options, *store.waits);
  if (opened.ok()) {
    store.database = std::move(opened).value();
  } else if (opened.status().code() != StatusCode::kNotFound) {
    return opened.status();
  }
  return store;
}

Status AsDamageOfStore(const Status& status) {
  if (status.code() != StatusCode::kMalformedInput) return status;
  return Status(StatusCode::kIoError, status.message() + "; `hearth cache verify --repair` repairs it");
}

Result<ReportedStore> OpenForReport(const fs::path& folder) {
  return AsDamageOfStore(OpenAsItIs(folder));
}

Status ChangeStoreAsItIs(const fs::path& folder, const std::function<Status(ReportedStore&)>& work) {
  constexpr int kMostFiles = 8;
  for (int file = 1;; ++file) {
    HEARTH_ASSIGN(ReportedStore store, OpenAsItIs(folder));
    const Status status = work(store);
    const bool is_damaged = status.code() == StatusCode::kMalformedInput;
    if ((!is_damaged && status.code() != StatusCode::kUnavailable) || !store.database) return status;
    if (is_damaged || !store.database->has_moved()) return status.Within(store.database->file().string());
    if (file == kMostFiles) return status;
  }
}

Status ChangeStore(const fs::path& folder, const std::function<Status(ReportedStore&)>& work) {
  return AsDamageOfStore(ChangeStoreAsItIs(folder, work));
}

ReportedStore::~ReportedStore() {
  if (waits) CloseStoreFile(database, options.folder, *waits);
}

Status CheckMayChange(const ReportedStore& store) {
  const fs::path& file = store.database->file();
  if (!store.database->read_only()) return Status::Ok();
  if (!HasLocks(store.options.folder)) return NoLocksIn(store.options.folder);
  for (const fs::path& path : {store.options.folder, file}) {
    if (::access(path.c_str(), W_OK) == 0) continue;
    return Error(StatusCode::kIoError, "nothing can be changed in {}: {}", path.string(), std::strerror(errno));
  }
  return Status::Ok();
}

CacheEntry EntryFrom(const Statement& row) {
  CacheEntry entry;
  entry.digest = FingerprintFrom(row.Blob(0)).ToHex();
  entry.kind = row.Text(1);
  auto fields = DecodeKeyMaterial(TextFrom(row.Blob(2)));
  if (fields.ok()) entry.fields = std::move(fields).value();
  entry.size_bytes = SizeFrom(row, 3);
  entry.cost_ms = BoundedCostMs(row.Real(4));
  entry.created_ms = row.Number(5);
  entry.last_used_ms = row.Number(6);
  entry.origin = row.Text(8).empty() ? "here" : row.Text(8);
  return entry;
}

Result<std::vector<CacheEntry>> ReadEntries(Database& database, const CacheFilter& filter) {
  std::vector<CacheEntry> entries;
  // By an index, so that sqlite holds one row at a time.
  HEARTH_ASSIGN(Statement rows, database.Prepare(std::string(kEntryColumns) + " ORDER BY last_used_ms DESC, id DESC"));
  HEARTH_TRY(rows.ForEachRow([&] {
    CacheEntry entry = EntryFrom(rows);
    if (Matches(entry, filter)) entries.push_back(std::move(entry));
  }));
  return entries;
}

Result<std::vector<CacheEntry>> ListEntries(const fs::path& folder, const CacheFilter& asked) {
  HEARTH_ASSIGN(const CacheFilter filter, CheckedFilter(asked));
  return ReadFrom(folder, [&](Database& database) { return ReadEntries(database, filter); });
}

Result<KnownRevocations> ListRevocations(const fs::path& folder) {
  return ReadFrom(folder, ReadRevocations);
}

Result<CacheEntry> ShowEntry(const fs::path& folder, std::string_view digest_prefix) {
  CacheFilter filter;
  filter.digest_prefix = digest_prefix;
  HEARTH_ASSIGN(std::vector<CacheEntry> entries, ListEntries(folder, filter));
  if (entries.size() == 1) return std::move(entries.front());
  return Error(StatusCode::kNotFound, "{} entries have a digest that begins with '{}': see the list of entries",
               entries.empty() ? "no" : "several", digest_prefix);
}

Result<CacheStats> ReadStats(ReportedStore& store) {
  CacheStats stats;
  const fs::path file = store.database ? store.database->file() : store.options.folder / kStoreFileName;
  stats.file = file.string();
  for (int kind = 0; kind < kBlobKindCount; ++kind) stats.kinds[std::string(BlobKindName(static_cast<BlobKind>(kind)))];
  stats.damaged_bytes = BytesWithLog(DamagedFile(store.options.folder));
  stats.other_formats_bytes = OtherFormatsBytes(store.options.folder, file);
  if (!store.database) return stats;
  stats.file_bytes = BytesWithLog(file);
  HEARTH_TRY(ReadTables(*store.database, stats));
  return stats;
}

Result<CacheStats> ReadStoreStats(const fs::path& folder) {
  HEARTH_ASSIGN(ReportedStore store, OpenForReport(folder));
  return OfStore(store, ReadStats(store));
}

Result<std::vector<CacheQuarantine>> ListQuarantine(const fs::path& folder) {
  HEARTH_ASSIGN(const auto records, ReadFrom(folder, ReadQuarantine));
  std::vector<CacheQuarantine> listed;
  for (const auto& [digest, record] : records) {
    listed.push_back({digest.ToHex(), record.kind, record.strikes, record.until_ms, record.strikes >= kMaxStrikes});
  }
  return listed;
}

Result<uint64_t> LiftQuarantine(const fs::path& folder) {
  uint64_t count = 0;
  HEARTH_TRY(ChangeStore(folder, [&](ReportedStore& store) -> Status {
    if (!store.database) return Status::Ok();
    HEARTH_TRY(CheckMayChange(store));
    HEARTH_ASSIGN(count, LiftQuarantine(*store.database, ""));
    return Status::Ok();
  }));
  return count;
}

// ---- Models ----

Result<std::vector<CacheModel>> ListModels(const fs::path& folder) {
  return ReadFrom(folder, [](Database& database) { return ReadModels(database); });
}

Result<std::vector<ModelUses>> ListUses(const fs::path& folder) {
  return ReadFrom(folder, ReadUses);
}

Result<std::vector<CacheMiss>> ListLastMisses(const fs::path& folder) {
  return ReadFrom(folder, ReadLastMisses);
}

Result<CacheModel> DescribeModel(const fs::path& folder, std::string_view model) {
  HEARTH_ASSIGN(ReportedStore store, OpenForReport(folder));
  if (!store.database) return Error(StatusCode::kNotFound, "there is no cache in {} yet", folder.string());
  return AsDamageOfStore(ReadModel(*store.database, model));
}

Status SetPinned(const fs::path& folder, std::string_view model, bool is_pinned) {
  return ChangeStore(folder, [&](ReportedStore& store) -> Status {
    if (!store.database) return Error(StatusCode::kNotFound, "there is no cache in {} yet", folder.string());
    HEARTH_TRY(CheckMayChange(store));
    HEARTH_ASSIGN(const int64_t id, FindModel(*store.database, model));
    return PinModel(*store.database, id, is_pinned);
  });
}

}  // namespace hearth
