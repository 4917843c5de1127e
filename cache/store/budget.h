// Keeps a store's file below its size limit. Entries that are long unused, large and cheap to make go first.
#ifndef HEARTH_CACHE_STORE_BUDGET_H_
#define HEARTH_CACHE_STORE_BUDGET_H_

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "cache/files/database.h"
#include "core/base/fingerprint.h"

namespace hearth {

// What an entry's worth is reckoned with: the bytes of a row beside its blob, and the least that making it can cost.
inline constexpr double kRowBytes = 512, kLeastCostMs = 0.1;

// The bytes of the file that are in use.
Result<uint64_t> UsedBytes(Database& database);

// What stays when all that may be evicted is gone. The sizes of pinned entries are upper bounds.
struct LeastSize {
  uint64_t empty_bytes = 0, pinned_bytes = 0;
  uint64_t kept_bytes = 0;  // both, and where nothing may be evicted all that is in use
  uint64_t room_bytes = 0;  // that MakeRoom leaves beside each new entry
};
Result<LeastSize> LeastSizeOf(Database& database);
// Why such a store has no room for anything new below `max_bytes`, and what helps; empty if it has.
std::string WhyTooSmall(const LeastSize& least, uint64_t max_bytes);
// The least limit that leaves room for something new, in MiB.
uint64_t LeastLimitMiB(const LeastSize& least);

// Stamps from the future would keep entries for ever. They become the time when the entry was made, or now.
Status SetFutureStampsRight(Database& database);

// An upper bound of the file space for a new entry.
uint64_t EntryBytes(uint64_t blob_bytes, uint64_t material_bytes, uint64_t page_bytes);

struct Victim {
  int64_t id = 0;
  uint64_t bytes = 0;  // of its blob
  Fingerprint digest;
  bool is_source = false;
};

// Entries of about `wanted_bytes`, or fewer, that no pinned model uses and for which `is_kept` is false, the least
// valuable first. Empty: there are no more.
Result<std::vector<Victim>> LeastWorthKeeping(Database& database, uint64_t wanted_bytes,
                                              const std::function<bool(const Fingerprint&)>& is_kept);

// Deletes entries within the caller's transaction, the least valuable first and none for which `is_kept` is true, until
// `needed_bytes` more fit below `max_bytes`. Returns false, with nothing deleted, if they can't fit. Adds the sources
// among them to `sources`: in the end the caller deletes the programs that need these (removal.h).
Result<bool> MakeRoom(Database& database, uint64_t needed_bytes, uint64_t max_bytes,
                      const std::function<bool(const Fingerprint&)>& is_kept, std::set<Fingerprint>& sources);

}  // namespace hearth

#endif  // HEARTH_CACHE_STORE_BUDGET_H_
