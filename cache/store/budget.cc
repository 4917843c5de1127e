#include "cache/store/budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "cache/store/entry_row.h"
#include "cache/store/models.h"

namespace hearth {
namespace {

constexpr int64_t kLeastCandidates = 1024;
constexpr uint64_t kTreesThatSplit = 6;          // full pages may split when an entry comes, at worst one in each tree
constexpr uint64_t kSmallEntryBytes = 64 << 10;  // that a limit should at least have room for

// Orders entries by how little they are worth: bytes times the time unused, divided by the time to make them again
// (hyperbolic caching, Blankstein, Sen, Freedman, USENIX ATC 2017). The additional minute spares entries that were just
// made.
// What needs an entry goes with it.
constexpr const char* kByWorth =
    "SELECT id, digest, size_bytes, kind FROM (SELECT id, digest, size_bytes, kind, last_used_ms,"
    " size_bytes + (SELECT total(size_bytes) FROM entries u WHERE u.needs=e.digest) AS all_bytes,"
    " cost_ms + (SELECT total(cost_ms) FROM entries u WHERE u.needs=e.digest) AS all_ms"
    " FROM entries e ORDER BY last_used_ms, id LIMIT ?1) ORDER BY"
    " (max(?2 - last_used_ms, 0) + 60000.0) * (all_bytes + ?3) / max(all_ms, ?4) DESC, last_used_ms, id";

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
  const int64_t now_ms = NowMs();
  return database.RunWith("UPDATE entries SET last_used_ms=min(created_ms, ?1) WHERE last_used_ms>?2", now_ms,
                          now_ms + kDayMs);
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

Result<LeastSize> LeastSizeOf(Database& database) {
  LeastSize least;
  HEARTH_ASSIGN(const int64_t page_number, database.Number("PRAGMA page_size"));
  HEARTH_ASSIGN(const int64_t trees, database.Number("SELECT count(name) FROM sqlite_schema"));
  const auto page_bytes = static_cast<uint64_t>(page_number);
  // Each tree has a page, and so have the list of trees and the map of pages.
  least.empty_bytes = (static_cast<uint64_t>(trees) + 2) * page_bytes;
  least.room_bytes = kTreesThatSplit * page_bytes;
  HEARTH_ASSIGN(const std::set<Fingerprint> pinned, PinnedDigests(database));
  HEARTH_ASSIGN(Statement rows, database.Prepare("SELECT digest, size_bytes, length(material) FROM entries"));
  bool has_others = false;
  while (true) {
    HEARTH_ASSIGN(const bool row, rows.Step());
    if (!row) break;
    const bool is_pinned = pinned.contains(FingerprintFrom(rows.Blob(0)));
    if (is_pinned) AddSize(least.pinned_bytes, EntryBytes(SizeFrom(rows, 1), SizeFrom(rows, 2), page_bytes));
    has_others |= !is_pinned;
    if (has_others && pinned.empty()) break;
  }
  least.kept_bytes = least.empty_bytes;
  AddSize(least.kept_bytes, least.pinned_bytes);
  if (has_others) return least;
  HEARTH_ASSIGN(const uint64_t used_bytes, UsedBytes(database));
  least.kept_bytes = std::max(least.kept_bytes, used_bytes);
  return least;
}

std::string WhyTooSmall(const LeastSize& least, uint64_t max_bytes) {
  if (max_bytes >= least.room_bytes && least.kept_bytes <= max_bytes - least.room_bytes) return "";
  std::string why = fmt::format("an empty store takes {} bytes", least.empty_bytes);
  if (least.pinned_bytes > 0) why += fmt::format(", the entries of pinned models {}", least.pinned_bytes);
  const uint64_t rest_bytes = least.kept_bytes - std::min(least.kept_bytes, least.empty_bytes + least.pinned_bytes);
  if (rest_bytes > 0) why += fmt::format(", names and records {}", rest_bytes);
  why += fmt::format(": raise its limit to at least {}M (HEARTH_CACHE_MAX_SIZE or --cache-max-bytes)",
                     LeastLimitMiB(least));
  if (least.pinned_bytes > 0) why += ", or unpin a model (`hearth cache pin MODEL --off`)";
  return why;
}

uint64_t LeastLimitMiB(const LeastSize& least) {
  uint64_t bytes = least.kept_bytes;
  AddSize(bytes, least.room_bytes + kSmallEntryBytes);
  return (bytes >> 20) + 1;
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
  const uint64_t wanted_bytes = needed_bytes + kTreesThatSplit * static_cast<uint64_t>(page_bytes);
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
