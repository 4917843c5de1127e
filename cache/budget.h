// Keeps a store's file below its size limit: what goes first was long unused, is large and was cheap to make.
#ifndef HEARTH_CACHE_BUDGET_H_
#define HEARTH_CACHE_BUDGET_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "cache/database.h"
#include "core/base/fingerprint.h"

namespace hearth {

// Bytes of the file that hold something.
Result<uint64_t> UsedBytes(Database& database);

// A clock that was wrong for a while must not keep entries for ever: they count as used when they were made, or now.
Status SetFutureStampsRight(Database& database);

// An upper estimate of what a new entry takes in the file.
uint64_t EntryBytes(uint64_t blob_bytes, uint64_t material_bytes, uint64_t page_bytes);

struct Victim {
  int64_t id = 0;
  uint64_t bytes = 0;  // of its blob
};

// Entries of about `wanted_bytes`, or fewer, that no pinned model uses and for which `is_kept` is false, those least
// worth keeping first. None: no more are left.
Result<std::vector<Victim>> LeastWorthKeeping(Database& database, uint64_t wanted_bytes,
                                              const std::function<bool(const Fingerprint&)>& is_kept);

// Within the caller's transaction: deletes entries, those least worth keeping first and none for which `is_kept`
// is true, until `needed_bytes` more fit below `max_bytes`. False, with nothing deleted, when they can't.
Result<bool> MakeRoom(Database& database, uint64_t needed_bytes, uint64_t max_bytes,
                      const std::function<bool(const Fingerprint&)>& is_kept);

}  // namespace hearth

#endif  // HEARTH_CACHE_BUDGET_H_
