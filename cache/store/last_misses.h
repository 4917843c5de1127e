// The last entries that sessions missed and made, with the reasons: once they are stored, comparing keys can't tell
// why.
#ifndef HEARTH_CACHE_STORE_LAST_MISSES_H_
#define HEARTH_CACHE_STORE_LAST_MISSES_H_

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/files/database.h"
#include "cache/store/models.h"
#include "core/store/cache_key.h"
#include "hearth/cache_types.h"

namespace hearth {

inline constexpr size_t kMostLastMisses = 64;  // of a store

// Newest first. A record that can't be read, all or in part, has no misses from there on: it is statistics.
Result<std::vector<CacheMiss>> ReadLastMisses(Database& database);

// The misses of one session, which only count if the session then makes the entry. Not thread-safe.
class SessionMisses {
 public:
  // `reason` is empty if the store just does not have the entry.
  void Miss(const Fingerprint& digest, std::string_view reason);
  // The entry is put; nothing if the session did not miss it.
  void Make(const Fingerprint& digest, BlobKind kind, std::string_view material);
  bool has_news() const { return !made_.empty(); }

  // Compares with the stored entries, before the transaction of Store: that should hold the write lock briefly.
  Status FindReasons(Database& database, const ModelName& model);
  Status Store(Database& database) const;  // within the caller's transaction
  void OnStored() { made_.clear(); }

 private:
  struct Made {
    CacheMiss miss;
    CacheKeyFields fields;
  };
  std::map<Fingerprint, std::string> missed_;  // with the reason
  std::set<Fingerprint> own_;                  // made here: a second put, as of a driver's growing cache, is no miss
  std::vector<Made> made_;
  int64_t when_ms_ = 0;  // one time for all misses of a session, which tells them from those of another
};

// Answers "why was this a miss?" by the stored entry whose key differs least.
struct NearestEntry {
  const CacheEntry* entry = nullptr;
  std::vector<CacheKeyDifference> differences;  // empty: the entry is the requested one
};
// The entry of this kind with the fewest differing fields, the first of equals; nullopt if there is none of that kind.
std::optional<NearestEntry> FindNearestEntry(const std::vector<CacheEntry>& entries, std::string_view kind,
                                             const CacheKeyFields& wanted);

}  // namespace hearth

#endif  // HEARTH_CACHE_STORE_LAST_MISSES_H_
