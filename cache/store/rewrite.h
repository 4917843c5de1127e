// Makes a store's file small again after many entries were deleted: copies what is left into a new file, which then
// gets the store's name. Each page is written once and the disk is waited for once. Moving pages within the file writes
// each twice and waits at every checkpoint.
//
// Others read and store meanwhile, in the old file. The new one takes the name when it has all that they stored, while
// nobody can commit, and while the old file's log is empty: whoever is killed at any point leaves the old file or the
// new one, each complete without a log. A session that still has the old file notices before it writes (Transaction).
#ifndef HEARTH_CACHE_STORE_REWRITE_H_
#define HEARTH_CACHE_STORE_REWRITE_H_

#include <optional>

#include "cache/files/database.h"
#include "cache/store/store_file.h"

namespace hearth {

// Whether so much of the file is free that rewriting it is faster than moving pages, and the disk has room for it.
bool IsFasterToRewrite(Database& database);

// `database` is the store in `options.folder`. It is closed after success and unchanged otherwise. Where another
// process keeps the log from being emptied, kUnavailable.
Status RewriteStore(const StoreOptions& options, std::optional<Database>& database);

}  // namespace hearth

#endif  // HEARTH_CACHE_STORE_REWRITE_H_
