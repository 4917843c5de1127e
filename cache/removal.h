// Deleting much without being in anybody's way: in short transactions, with the log copied into the file and the write
// lock free between them, so that sessions beside it store what they made and the log stays small.
#ifndef HEARTH_CACHE_REMOVAL_H_
#define HEARTH_CACHE_REMOVAL_H_

#include <span>

#include "cache/database.h"

namespace hearth {

// Entries with their blobs; then ShrinkFile.
Status DeleteInBatches(Database& database, std::span<const int64_t> ids);

// Deletes the longest unused entries, but for those of pinned models, until the store is not larger than `max_bytes`;
// then ShrinkFile.
Status DeleteDownTo(Database& database, uint64_t max_bytes);

// Gives free pages back to the file system.
Status ShrinkFile(Database& database);

}  // namespace hearth

#endif  // HEARTH_CACHE_REMOVAL_H_
