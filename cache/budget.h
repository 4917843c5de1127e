// Keeps a store's file below its size limit. Entries that are long unused, large and cheap to make go first.
#ifndef HEARTH_CACHE_BUDGET_H_
#define HEARTH_CACHE_BUDGET_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "cache/database.h"
#include "core/base/fingerprint.h"

namespace hearth {

// The bytes of the file that are in use.
Result<uint64_t> UsedBytes(Database& database);

// Stamps from the future would keep entries for ever. They become the time when the entry was made, or now.
Status SetFutureStampsRight(Database& database);

// An upper bound of the file space for a new entry.
uint64_t EntryBytes(uint64_t blob_bytes, uint64_t material_bytes, uint64_t page_bytes);

struct Victim {
  int64_t id = 0;
  uint64_t bytes = 0;  // of its blob
};

// Entries of about `wanted_bytes`, or fewer, that no pinned model uses and for which `is_kept` is false, the least
// valuable first. Empty: there are no more.
Result<std::vector<Victim>> LeastWorthKeeping(Database& database, uint64_t wanted_bytes,
                                              const std::function<bool(const Fingerprint&)>& is_kept);

// Deletes entries within the caller's transaction, the least valuable first and none for which `is_kept` is true, until
// `needed_bytes` more fit below `max_bytes`. Returns false, with nothing deleted, if they can't fit.
Result<bool> MakeRoom(Database& database, uint64_t needed_bytes, uint64_t max_bytes,
                      const std::function<bool(const Fingerprint&)>& is_kept);

}  // namespace hearth

#endif  // HEARTH_CACHE_BUDGET_H_
