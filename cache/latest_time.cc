#include "cache/latest_time.h"

#include <algorithm>

#include "cache/report_access.h"

namespace hearth {

int64_t LatestTimeMs(Database& database) {
  const Result<int64_t> time_ms = database.Number("SELECT value FROM counters WHERE name='latest_ms'");
  return time_ms.ok() ? std::max<int64_t>(0, *time_ms) : 0;
}

int64_t LatestTimeMsIn(const std::filesystem::path& folder) {
  Result<ReportedStore> store = OpenForReport(folder);
  return store.ok() && store->database ? LatestTimeMs(*store->database) : 0;
}

Status NoteTime(Database& database, int64_t time_ms) {
  HEARTH_ASSIGN(Statement row,
                database.Prepare("INSERT INTO counters VALUES('latest_ms', ?) ON CONFLICT(name) DO UPDATE SET"
                                 " value=max(value, excluded.value)"));
  return row.Bind(0, time_ms).Run();
}

}  // namespace hearth
