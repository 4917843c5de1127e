// What the command line tells about a store, as plain values: nothing here prints.
//
// Each function opens the store of `folder` for itself, changes nothing unless its name says so, and
// heals nothing: a damaged file is an error (kMalformedInput), except for VerifyStore, whose
// answer it is. A folder without a store is an empty store.
#ifndef HEARTH_CACHE_REPORTS_H_
#define HEARTH_CACHE_REPORTS_H_

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/blob_store.h"
#include "core/fingerprint.h"
#include "hearth/status.h"

namespace hearth {

struct EntryInfo {
  std::string kind;
  Fingerprint digest;
  uint64_t size_bytes = 0;
  double cost_ms = 0;
  int64_t created_ms = 0, last_used_ms = 0;                 // since 1970
  std::vector<std::pair<std::string, std::string>> fields;  // of the key, in its order
};

// All conditions together; what is not set does not restrict.
struct EntryFilter {
  std::optional<BlobKind> kind;
  std::string digest_prefix;                                        // hex digits
  std::vector<std::pair<std::string, std::string>> field_contains;  // field name, part of its value
  std::optional<int64_t> unused_since_ms;                           // last used before that time
};

// Most recently used first.
Result<std::vector<EntryInfo>> ListEntries(const std::filesystem::path& folder, const EntryFilter& filter = {});

// The one entry whose digest begins with these hex digits; kNotFound for none or several.
Result<EntryInfo> ShowEntry(const std::filesystem::path& folder, std::string_view digest_prefix);

struct KindStats {
  uint64_t entries = 0, blob_bytes = 0;
};
struct StoreStats {
  std::filesystem::path file;
  uint64_t entries = 0, blob_bytes = 0, file_bytes = 0, quarantined = 0;
  std::array<KindStats, kBlobKindCount> kinds;  // by BlobKind
  StoreCounters lifetime;                       // of all finished sessions
};
Result<StoreStats> ReadStoreStats(const std::filesystem::path& folder);

struct Damage {
  std::string where;  // an entry's digest, or the file
  std::string what;
};
struct VerifyReport {
  uint64_t checked_entries = 0, checked_bytes = 0;
  std::vector<Damage> damages;
  bool repaired = false;
  bool clean() const { return damages.empty(); }
};
// Reads everything: the structure of the file, then each entry's key, size and checksum. With `repair`
// damaged entries are deleted, and a damaged file is moved aside.
Result<VerifyReport> VerifyStore(const std::filesystem::path& folder, bool repair);

struct RemovedEntries {
  uint64_t entries = 0, blob_bytes = 0;
};
// Deletes what the filter selects (everything by default) and gives the space back to the file system.
// Clearing everything also forgets quarantines and counters, and moves a damaged file aside.
Result<RemovedEntries> ClearStore(const std::filesystem::path& folder, const EntryFilter& filter = {});
// Deletes the longest unused entries until the store is not larger than `max_bytes`.
Result<RemovedEntries> PruneStore(const std::filesystem::path& folder, uint64_t max_bytes);

struct FieldDifference {
  std::string field;
  std::optional<std::string> wanted, stored;  // nullopt: that key has no such field
};
struct NearestEntry {
  EntryInfo entry;
  std::vector<FieldDifference> differences;  // empty: the entry is the one that was asked for
};
// The entry of the key's kind with the fewest differing fields, the newest of equals; nullopt when
// there is none of that kind. Answers "why was this a miss?".
Result<std::optional<NearestEntry>> FindNearestEntry(const std::filesystem::path& folder, const CacheKey& key);

}  // namespace hearth

#endif  // HEARTH_CACHE_REPORTS_H_
