#include "cache/reports.h"

#include <algorithm>
#include <map>
#include <system_error>

#include "cache/entry_row.h"
#include "cache/folder.h"
#include "cache/report_access.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;

std::optional<BlobKind> KindFrom(std::string_view name) {
  for (int kind = 0; kind < kBlobKindCount; ++kind) {
    if (BlobKindName(static_cast<BlobKind>(kind)) == name) return static_cast<BlobKind>(kind);
  }
  return std::nullopt;
}

Status ReadCounters(Database& database, StoreCounters& counters) {
  HEARTH_ASSIGN(Statement rows, database.Prepare("SELECT name, value FROM counters"));
  while (true) {
    HEARTH_ASSIGN(const bool row, rows.Step());
    if (!row) return Status::Ok();
    const double value = rows.Real(1);
    if (!(value >= 0 && value < 1e18)) continue;  // damaged
    const std::string_view name = rows.Text(0);
    const auto number = static_cast<uint64_t>(value);
    if (name == "hits") counters.hits = number;
    if (name == "misses") counters.misses = number;
    if (name == "rejected") counters.rejected = number;
    if (name == "put_errors") counters.put_errors = number;
    if (name == "bytes_read") counters.bytes_read = number;
    if (name == "bytes_written") counters.bytes_written = number;
    if (name == "milliseconds_saved") counters.milliseconds_saved = value;
  }
}

std::vector<FieldDifference> Differences(const std::vector<std::pair<std::string, std::string>>& wanted,
                                         const std::vector<std::pair<std::string, std::string>>& stored) {
  std::vector<FieldDifference> differences;
  std::multimap<std::string, std::string> left(stored.begin(), stored.end());
  for (const auto& field : wanted) {
    const auto [first, last] = left.equal_range(field.first);
    const auto same = std::find(first, last, std::pair<const std::string, std::string>(field));
    if (same != last) {
      left.erase(same);
    } else if (first != last) {
      differences.push_back({field.first, field.second, first->second});
      left.erase(first);
    } else {
      differences.push_back({field.first, field.second, std::nullopt});
    }
  }
  for (const auto& [field, value] : left) differences.push_back({field, std::nullopt, value});
  return differences;
}

}  // namespace

Result<ReportedStore> OpenForReport(const fs::path& folder) {
  ReportedStore store;
  Result<fs::path> prepared = PrepareFolder(folder, FolderUse::kExisting);
  if (!prepared.ok()) {
    store.options.folder = folder;
    if (prepared.status().code() == StatusCode::kNotFound) return store;
    return prepared.status();
  }
  store.options.folder = *prepared;
  Result<Database> opened = OpenStoreFileAsItIs(store.options);
  if (opened.ok()) {
    store.database = std::move(opened).value();
  } else if (opened.status().code() != StatusCode::kNotFound) {
    return opened.status();
  }
  return store;
}

EntryInfo EntryFrom(const Statement& row) {
  EntryInfo entry;
  entry.digest = FingerprintFrom(row.Blob(0));
  entry.kind = row.Text(1);
  const std::span<const std::byte> material = row.Blob(2);
  auto fields = DecodeKeyMaterial({reinterpret_cast<const char*>(material.data()), material.size()});
  if (fields.ok()) entry.fields = std::move(fields).value();
  entry.size_bytes = static_cast<uint64_t>(row.Number(3));
  entry.cost_ms = row.Real(4);
  entry.created_ms = row.Number(5);
  entry.last_used_ms = row.Number(6);
  return entry;
}

bool Matches(const EntryInfo& entry, const EntryFilter& filter) {
  if (filter.kind && entry.kind != BlobKindName(*filter.kind)) return false;
  if (!entry.digest.ToHex().starts_with(filter.digest_prefix)) return false;
  if (filter.unused_since_ms && entry.last_used_ms >= *filter.unused_since_ms) return false;
  return std::ranges::all_of(filter.field_contains, [&](const auto& wanted) {
    return std::ranges::any_of(entry.fields, [&](const auto& field) {
      return field.first == wanted.first && field.second.find(wanted.second) != std::string::npos;
    });
  });
}

Result<std::vector<EntryInfo>> ListEntries(const fs::path& folder, const EntryFilter& filter) {
  std::vector<EntryInfo> entries;
  HEARTH_ASSIGN(ReportedStore store, OpenForReport(folder));
  if (!store.database) return entries;
  HEARTH_ASSIGN(Statement rows,
                store.database->Prepare(std::string(kEntryColumns) + " ORDER BY last_used_ms DESC, id DESC"));
  while (true) {
    HEARTH_ASSIGN(const bool row, rows.Step());
    if (!row) return entries;
    EntryInfo entry = EntryFrom(rows);
    if (Matches(entry, filter)) entries.push_back(std::move(entry));
  }
}

Result<EntryInfo> ShowEntry(const fs::path& folder, std::string_view digest_prefix) {
  EntryFilter filter;
  filter.digest_prefix = digest_prefix;
  HEARTH_ASSIGN(std::vector<EntryInfo> entries, ListEntries(folder, filter));
  if (entries.size() == 1) return std::move(entries.front());
  return Error(StatusCode::kNotFound, "{} entries have a digest that begins with '{}': see the list of entries",
               entries.empty() ? "no" : "several", digest_prefix);
}

Result<StoreStats> ReadStoreStats(const fs::path& folder) {
  StoreStats stats;
  HEARTH_ASSIGN(ReportedStore store, OpenForReport(folder));
  stats.file = store.options.folder / kStoreFileName;
  if (!store.database) return stats;
  for (const char* suffix : {"", "-wal"}) {
    std::error_code error;
    const uint64_t size_bytes = fs::file_size(stats.file.string() + suffix, error);
    if (!error) stats.file_bytes += size_bytes;
  }
  HEARTH_ASSIGN(Statement rows,
                store.database->Prepare("SELECT kind, count(*), sum(size_bytes) FROM entries GROUP BY kind"));
  while (true) {
    HEARTH_ASSIGN(const bool row, rows.Step());
    if (!row) break;
    const KindStats counted = {static_cast<uint64_t>(rows.Number(1)), static_cast<uint64_t>(rows.Number(2))};
    stats.entries += counted.entries;
    stats.blob_bytes += counted.blob_bytes;
    if (const auto kind = KindFrom(rows.Text(0))) stats.kinds[static_cast<size_t>(*kind)] = counted;
  }
  HEARTH_ASSIGN(const int64_t quarantined, store.database->Number("SELECT count(*) FROM quarantine"));
  stats.quarantined = static_cast<uint64_t>(quarantined);
  HEARTH_TRY(ReadCounters(*store.database, stats.lifetime));
  return stats;
}

Result<std::optional<NearestEntry>> FindNearestEntry(const fs::path& folder, const CacheKey& key) {
  EntryFilter filter;
  filter.kind = key.kind();
  HEARTH_ASSIGN(std::vector<EntryInfo> entries, ListEntries(folder, filter));
  HEARTH_ASSIGN(const auto wanted, DecodeKeyMaterial(key.material()));
  std::optional<NearestEntry> nearest;
  for (EntryInfo& entry : entries) {
    std::vector<FieldDifference> differences = Differences(wanted, entry.fields);
    if (nearest && differences.size() >= nearest->differences.size()) continue;
    nearest = NearestEntry{std::move(entry), std::move(differences)};
  }
  return nearest;
}

}  // namespace hearth
