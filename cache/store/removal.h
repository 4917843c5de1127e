// Deletes many entries without blocking others: in short transactions, between which the log is checkpointed and the
// write lock is free. So other sessions can store entries, and the log stays small. What needs a deleted entry goes
// with it: without its source a program is of no use.
#ifndef HEARTH_CACHE_STORE_REMOVAL_H_
#define HEARTH_CACHE_STORE_REMOVAL_H_

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <vector>

#include "cache/files/database.h"
#include "core/base/fingerprint.h"

namespace hearth {

// Deletes entries with their blobs.
Status DeleteInBatches(Database& database, std::span<const int64_t> ids);

// Deletes the entries least worth keeping (budget.h), except those of pinned models, until the store is at most
// `max_bytes`.
Status DeleteDownTo(Database& database, uint64_t max_bytes);

// Returns free pages to the file system by moving pages within the file.
Status ShrinkInPlace(Database& database);

// The ids of the programs that need one of `sources`, except those that pinned models use or for which `is_kept` is
// true.
Result<std::vector<int64_t>> ProgramsThatNeed(Database& database, const std::set<Fingerprint>& sources,
                                              const std::function<bool(const Fingerprint&)>& is_kept);

// What goes where somebody deletes these entries whether or not pinned models use them: the programs that need the
// sources among them, and then the entries. In that order, so that a process that ends in between leaves no program
// without its source.
Result<std::vector<int64_t>> WithTheirPrograms(Database& database, std::span<const int64_t> ids);

}  // namespace hearth

#endif  // HEARTH_CACHE_STORE_REMOVAL_H_
