#include "cache/budget.h"

#include <vector>

#include "cache/entry_row.h"
#include "cache/models.h"

namespace hearth {
namespace {

constexpr size_t kVictimsAtOnce = 64;

Result<std::vector<int64_t>> LongestUnused(Database& database, const std::function<bool(const Fingerprint&)>& is_kept) {
  HEARTH_ASSIGN(const std::set<Fingerprint> pinned, PinnedDigests(database));
  HEARTH_ASSIGN(Statement oldest, database.Prepare("SELECT id, digest FROM entries ORDER BY last_used_ms, id"));
  std::vector<int64_t> ids;
  while (ids.size() < kVictimsAtOnce) {
    HEARTH_ASSIGN(const bool row, oldest.Step());
    if (!row) break;
    const Fingerprint digest = FingerprintFrom(oldest.Blob(1));
    if (!pinned.contains(digest) && !is_kept(digest)) ids.push_back(oldest.Number(0));
  }
  return ids;
}

}  // namespace

Status SetFutureStampsRight(Database& database) {
  constexpr int64_t kDayMs = 24 * 60 * 60 * 1000;
  HEARTH_ASSIGN(Statement stamp, database.Prepare("UPDATE entries SET last_used_ms=min(created_ms, ?1) WHERE"
                                                  " last_used_ms>?2"));
  const int64_t now_ms = NowMs();
  return stamp.Bind(0, now_ms).Bind(1, now_ms + kDayMs).Run();
}

Result<uint64_t> UsedBytes(Database& database) {
  HEARTH_ASSIGN(const int64_t pages, database.Number("PRAGMA page_count"));
  HEARTH_ASSIGN(const int64_t free_pages, database.Number("PRAGMA freelist_count"));
  HEARTH_ASSIGN(const int64_t page_bytes, database.Number("PRAGMA page_size"));
  if (free_pages < 0 || free_pages > pages) {  // it would count as a full store, for ever
    return Error(StatusCode::kMalformedInput, "{} of {} pages are said to be free", free_pages, pages);
  }
  return static_cast<uint64_t>(pages - free_pages) * static_cast<uint64_t>(page_bytes);
}

uint64_t EntryBytes(uint64_t blob_bytes, uint64_t material_bytes, uint64_t page_bytes) {
  // Pages of an overflow chain hold 4 bytes less; one page in page_bytes / 5 maps the others.
  const uint64_t blob_pages = blob_bytes / (page_bytes - 4) + 1;
  const uint64_t map_bytes = (blob_pages / (page_bytes / 5) + 1) * 5;
  // Short rows share pages that are at worst half full.
  const uint64_t in_blob_table = blob_bytes < page_bytes / 4 ? 2 * (blob_bytes + 16) : blob_pages * page_bytes;
  return in_blob_table + 2 * (material_bytes + 160) + map_bytes;
}

Result<bool> MakeRoom(Database& database, uint64_t needed_bytes, uint64_t max_bytes,
                      const std::function<bool(const Fingerprint&)>& is_kept) {
  HEARTH_ASSIGN(const int64_t page_bytes, database.Number("PRAGMA page_size"));
  // Splits of full pages, at worst one in each of the trees.
  const uint64_t wanted_bytes = needed_bytes + 6 * static_cast<uint64_t>(page_bytes);
  HEARTH_TRY(database.Run("SAVEPOINT room"));
  HEARTH_TRY(SetFutureStampsRight(database));
  while (true) {
    HEARTH_ASSIGN(uint64_t used_bytes, UsedBytes(database));
    if (used_bytes + wanted_bytes <= max_bytes) break;
    HEARTH_ASSIGN(const std::vector<int64_t> victims, LongestUnused(database, is_kept));
    if (victims.empty()) {
      HEARTH_TRY(database.Run("ROLLBACK TO room; RELEASE room"));  // deleting these entries would not make enough room
      return false;
    }
    for (int64_t id : victims) {
      HEARTH_TRY(DeleteEntry(database, id));
      HEARTH_ASSIGN(used_bytes, UsedBytes(database));
      if (used_bytes + wanted_bytes <= max_bytes) break;
    }
  }
  HEARTH_TRY(database.Run("RELEASE room"));
  return true;
}

}  // namespace hearth
