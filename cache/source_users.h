// The programs in a store that need some sources, which go with them: without its source a program is of no use.
#ifndef HEARTH_CACHE_SOURCE_USERS_H_
#define HEARTH_CACHE_SOURCE_USERS_H_

#include <cstdint>
#include <functional>
#include <set>
#include <vector>

#include "cache/database.h"
#include "core/base/fingerprint.h"

namespace hearth {

// The ids of the programs that need one of `sources`, except those that pinned models use or for which `is_kept` is
// true. Reads the beginnings of all programs unless `sources` is empty.
Result<std::vector<int64_t>> ProgramsThatNeed(Database& database, const std::set<Fingerprint>& sources,
                                              const std::function<bool(const Fingerprint&)>& is_kept);

}  // namespace hearth

#endif  // HEARTH_CACHE_SOURCE_USERS_H_
