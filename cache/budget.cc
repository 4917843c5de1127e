#include "cache/budget.h"

#include <algorithm>

#include "cache/entry_row.h"
#include "cache/models.h"

namespace hearth {
namespace {

constexpr int64_t kLeastCandidates = 1024;

// Orders entries by how little they are worth: bytes times the time unused, divided by the time to make them again
// (hyperbolic caching, Blankstein, Sen, Freedman, USENIX ATC 2017). The additional minute spares entries that were just
// made.
constexpr const char* kByWorth =
    "SELECT id, digest, size_bytes, kind FROM (SELECT id, digest, size_bytes, kind, cost_ms, last_used_ms FROM entries"
    " ORDER BY last_used_ms, id LIMIT ?1) ORDER BY"
    " (max(?2 - last_used_ms, 0) + 60000.0) * (size_bytes + ?3) / max(cost_ms, ?4) DESC, last_used_ms, id";

}  // namespace

// Selects among the longest unused, so that only a part of a large store is read.
Result<std::vector<Victim>> LeastWorthKeeping(Database& database, uint64_t wanted_bytes,
                                              const std::function<bool(const Fingerprint&)>& is_kept) {
  HEARTH_ASSIGN(const int64_t count, database.Number("SELECT count(id) FROM entries"));
  HEARTH_ASSIGN(const std::set<Fingerprint> pinned, PinnedDigests(database));
  HEARTH_ASSIGN(Statement rows, database.Prepare(kByWorth));
  std::vector<Victim> victims;
  for (int64_t candidates = kLeastCandidates; victims.empty(); candidates *= 8) {
    const StatementScope scope(rows);
    rows.Bind(0, candidates).Bind(1, NowMs()).Bind(2, kRowBytes).Bind(3, kLeastCostMs);
    for (uint64_t bytes = 0; bytes < wanted_bytes;) {
      HEARTH_ASSIGN(const bool row, rows.Step());
      if (!row) break;
      const Fingerprint digest = FingerprintFrom(rows.Blob(1));
      if (pinned.contains(digest) || is_kept(digest)) continue;
      victims.push_back({rows.Number(0), SizeFrom(rows, 2), digest, rows.Text(3) == BlobKindName(BlobKind::kSource)});
      bytes += victims.back().bytes + 1;
    }
    if (candidates >= count) break;
  }
  return victims;
}

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
  if (free_pages < 0 || free_pages > pages) {  // the store would seem full for ever
    return Error(StatusCode::kMalformedInput, "it claims that {} of {} pages are free", free_pages, pages);
  }
  return static_cast<uint64_t>(pages - free_pages) * static_cast<uint64_t>(page_bytes);
}

uint64_t EntryBytes(uint64_t blob_bytes, uint64_t material_bytes, uint64_t page_bytes) {
  // A page of an overflow chain holds 4 bytes less than a page. One page in page_bytes / 5 maps the others.
  const uint64_t blob_pages = blob_bytes / (page_bytes - 4) + 1;
  const uint64_t map_bytes = (blob_pages / (page_bytes / 5) + 1) * 5;
  // Short rows share pages that are at least half full.
  const uint64_t in_blob_table = blob_bytes < page_bytes / 4 ? 2 * (blob_bytes + 16) : blob_pages * page_bytes;
  return in_blob_table + 2 * (material_bytes + 160) + map_bytes;
}

Result<bool> MakeRoom(Database& database, uint64_t needed_bytes, uint64_t max_bytes,
                      const std::function<bool(const Fingerprint&)>& is_kept, std::set<Fingerprint>& sources) {
  std::set<Fingerprint> deleted_sources;
  HEARTH_ASSIGN(const int64_t page_bytes, database.Number("PRAGMA page_size"));
  // Full pages may split, at worst one in each tree.
  const uint64_t wanted_bytes = needed_bytes + 6 * static_cast<uint64_t>(page_bytes);
  HEARTH_TRY(database.Run("SAVEPOINT room"));
  HEARTH_TRY(SetFutureStampsRight(database));
  while (true) {
    HEARTH_ASSIGN(uint64_t used_bytes, UsedBytes(database));
    if (used_bytes + wanted_bytes <= max_bytes) break;
    HEARTH_ASSIGN(const std::vector<Victim> victims,
                  LeastWorthKeeping(database, used_bytes + wanted_bytes - max_bytes, is_kept));
    if (victims.empty()) {
      HEARTH_TRY(database.Run("ROLLBACK TO room; RELEASE room"));  // deleting these entries would not make enough room
      return false;
    }
    for (const Victim& victim : victims) {
      HEARTH_TRY(DeleteEntry(database, victim.id));
      if (victim.is_source) deleted_sources.insert(victim.digest);
      HEARTH_ASSIGN(used_bytes, UsedBytes(database));
      if (used_bytes + wanted_bytes <= max_bytes) break;
    }
  }
  HEARTH_TRY(database.Run("RELEASE room"));
  sources.merge(deleted_sources);
  return true;
}

}  // namespace hearth
