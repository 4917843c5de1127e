// The programs in a store that need some sources, which go with them: without its source a program is of no use.
#ifndef HEARTH_CACHE_SOURCE_USERS_H_
#define HEARTH_CACHE_SOURCE_USERS_H_

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <vector>

#include "cache/database.h"
#include "core/base/fingerprint.h"

namespace hearth {

// The ids of the programs that need one of `sources`, except those that pinned models use or for which `is_kept` is
// true. Reads the beginnings of all programs unless `sources` is empty.
Result<std::vector<int64_t>> ProgramsThatNeed(Database& database, const std::set<Fingerprint>& sources,
                                              const std::function<bool(const Fingerprint&)>& is_kept);

// What goes where somebody deletes these entries whether or not pinned models use them: the programs that need the
// sources among them, and then the entries. In that order, so that a process that ends in between leaves no program
// without its source.
Result<std::vector<int64_t>> WithTheirPrograms(Database& database, std::span<const int64_t> ids);

}  // namespace hearth

#endif  // HEARTH_CACHE_SOURCE_USERS_H_
