// Opens stores for reports, and the columns that reports share. Internal to cache/.
#ifndef HEARTH_CACHE_REPORT_ACCESS_H_
#define HEARTH_CACHE_REPORT_ACCESS_H_

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include "cache/database.h"
#include "cache/store_file.h"
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
// Opens the store without making or repairing it.
Result<ReportedStore> OpenForReport(const std::filesystem::path& folder);
// Opens the store and calls `work`, which changes it. Does both again where clear or prune gave the store's name to
// another file meanwhile, so `work` must be repeatable.
Status ChangeStore(const std::filesystem::path& folder, const std::function<Status(ReportedStore&)>& work);
// What was read there; an error names the file.
inline Status OfStore(const ReportedStore& store, const Status& status) {
  return status.Within(store.database->file().string());
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
    "SELECT digest, kind, material, size_bytes, cost_ms, created_ms, last_used_ms, id, origin FROM entries";
CacheEntry EntryFrom(const Statement& row);  // `row` has kEntryColumns

}  // namespace hearth

#endif  // HEARTH_CACHE_REPORT_ACCESS_H_
