// Visits many entries of a store at once.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "cache/entry_row.h"
#include "cache/sqlite_store.h"
#include "core/base/text.h"

namespace hearth {
namespace {

struct Visited {
  CacheKey key;
  std::vector<std::byte> bytes;
  Fingerprint checksum;
  std::string origin;
};

// Entries whose material begins with that of `common`. Damaged ones are skipped; verify finds them.
Status ReadAll(Database& database, const CacheKey& common, std::vector<Visited>& visited) {
  // The kind is written into the SQL text, because sqlite uses a partial index only for a constant condition.
  HEARTH_ASSIGN(Statement rows, database.Prepare(fmt::format(
                                    "SELECT e.material, e.checksum, b.bytes, e.origin FROM entries e JOIN blobs b ON"
                                    " b.id=e.id WHERE e.kind='{}' AND e.material>=? AND"
                                    " substr(e.material, 1, ?)=?",
                                    BlobKindName(common.kind()))));
  const std::span<const std::byte> beginning = BytesOf(common.material());
  rows.Bind(0, beginning).Bind(1, static_cast<int64_t>(beginning.size())).Bind(2, beginning);
  while (true) {
    HEARTH_ASSIGN(const bool row, rows.Step());
    if (!row) return Status::Ok();
    std::optional<CacheKey> key = KeyFromMaterial(common.kind(), TextFrom(rows.Blob(0)));
    const std::span<const std::byte> bytes = rows.Blob(2);
    const Fingerprint checksum = FingerprintOf(bytes);
    if (!key || checksum != FingerprintFrom(rows.Blob(1))) continue;
    visited.push_back({*std::move(key), {bytes.begin(), bytes.end()}, checksum, std::string(rows.Text(3))});
  }
}

}  // namespace

void SqliteStore::ForEach(const CacheKey& common, const Visitor& visit) {
  if (IsForked()) return;
  std::vector<Visited> visited;
  {
    const std::scoped_lock lock(mutex_);
    if (database_) {
      const Status status = ReadAll(*database_, common, visited);
      if (!status.ok()) OnTrouble("reading", status);
    }
    std::erase_if(visited, [this](const Visited& entry) { return pending_.contains(entry.key.digest()); });
    for (const auto& [digest, pending] : pending_) {
      if (pending.key.kind() == common.kind() && pending.key.material().starts_with(common.material())) {
        visited.push_back({pending.key, pending.bytes, pending.checksum, pending.origin});
      }
    }
    std::erase_if(visited, [this](const Visited& entry) { return hidden_.contains(entry.key.digest()); });
    for (const Visited& entry : visited) {
      ++counters_.hits;
      counters_.bytes_read += entry.bytes.size();
      origins_.Note(entry.key.digest(), entry.checksum, entry.origin);
      used_.emplace(entry.key.digest(), false);
    }
  }
  for (const Visited& entry : visited) visit(entry.key, entry.bytes);
}

}  // namespace hearth
