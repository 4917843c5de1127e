// Opens stores for reports, and the columns that reports share. Internal to cache/.
#ifndef HEARTH_CACHE_DESK_REPORT_ACCESS_H_
#define HEARTH_CACHE_DESK_REPORT_ACCESS_H_

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "cache/files/database.h"
#include "cache/store/store_file.h"
#include "hearth/cache_types.h"

namespace hearth {

struct ReportedStore {
  ReportedStore() = default;
  ReportedStore(ReportedStore&&) = default;
  ReportedStore& operator=(ReportedStore&&) = delete;
  ~ReportedStore();
  StoreOptions options;
  std::unique_ptr<WaitBudget> waits;  // before the database, which refers to it
  std::optional<Database> database;   // nullopt: there is no store yet
};
// A damaged store (kMalformedInput) as an I/O error with its remedy: it is no mistake in the caller's arguments. Other
// results stay as they are.
Status AsDamageOfStore(const Status& status);
template <typename T>
Result<T> AsDamageOfStore(Result<T> result) {
  if (result.ok()) return result;
  return AsDamageOfStore(result.status());
}

// Opens the store without making or repairing it. Damage is kMalformedInput, for those that look for it.
Result<ReportedStore> OpenAsItIs(const std::filesystem::path& folder);
// The same for all others: damage is what AsDamageOfStore makes of it.
Result<ReportedStore> OpenForReport(const std::filesystem::path& folder);
// Opens the store as it is and calls `work`, which changes it. Does both again where clear or prune gave the store's
// name to another file meanwhile, so `work` must be repeatable.
Status ChangeStoreAsItIs(const std::filesystem::path& folder, const std::function<Status(ReportedStore&)>& work);
// The same for those that don't look for damage.
Status ChangeStore(const std::filesystem::path& folder, const std::function<Status(ReportedStore&)>& work);
// What was read there; an error names the file, and the remedy of damage.
inline Status OfStore(const ReportedStore& store, const Status& status) {
  return store.database ? AsDamageOfStore(status.Within(store.database->file().string())) : status;
}
template <typename T>
Result<T> OfStore(const ReportedStore& store, Result<T> result) {
  if (result.ok()) return result;
  return OfStore(store, result.status());
}
// kIoError says why nothing can be changed there.
Status CheckMayChange(const ReportedStore& store);
// Longer than a session's wait, because a person asked for the report.
inline constexpr int kReportWaitMs = 5000;

inline constexpr const char* kEntryColumns =
    "SELECT digest, kind, material, size_bytes, cost_ms, created_ms, last_used_ms, id, origin, checksum FROM entries";
CacheEntry EntryFrom(const Statement& row);  // `row` has kEntryColumns
// Reads the entry's blob, and checks key, size and checksum. Empty if all are right. `row` has kEntryColumns.
std::string DamageOf(Database& database, Statement& row, std::vector<std::byte>& bytes);

// What the reports of reports.h read, with damage as kMalformedInput. Most recently used first.
Result<std::vector<CacheEntry>> ReadEntries(Database& database, const CacheFilter& filter);
Result<CacheStats> ReadStats(ReportedStore& store);  // of an empty store where there is none

}  // namespace hearth

#endif  // HEARTH_CACHE_DESK_REPORT_ACCESS_H_
