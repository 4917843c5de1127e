// Deletes many entries without blocking others: in short transactions, between which the log is checkpointed and the
// write lock is free. So other sessions can store entries, and the log stays small.
#ifndef HEARTH_CACHE_REMOVAL_H_
#define HEARTH_CACHE_REMOVAL_H_

#include <span>

#include "cache/database.h"

namespace hearth {

// Deletes entries with their blobs.
Status DeleteInBatches(Database& database, std::span<const int64_t> ids);

// Deletes the entries least worth keeping (budget.h), except those of pinned models, until the store is at most
// `max_bytes`.
Status DeleteDownTo(Database& database, uint64_t max_bytes);

// Returns free pages to the file system by moving pages within the file.
Status ShrinkInPlace(Database& database);

}  // namespace hearth

#endif  // HEARTH_CACHE_REMOVAL_H_
