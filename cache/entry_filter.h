// Which entries a filter means.
#ifndef HEARTH_CACHE_ENTRY_FILTER_H_
#define HEARTH_CACHE_ENTRY_FILTER_H_

#include "hearth/cache_types.h"
#include "hearth/status.h"

namespace hearth {

// With hex digits in small letters. kInvalidArgument: a kind that there is not, or a key or digest that is not hex
// digits, with which a revocation would seem to be done and nothing would have gone.
Result<CacheFilter> CheckedFilter(CacheFilter filter);

bool Matches(const CacheEntry& entry, const CacheFilter& filter);  // a checked one

// False: it means every entry.
bool IsRestricted(const CacheFilter& filter);

}  // namespace hearth

#endif  // HEARTH_CACHE_ENTRY_FILTER_H_
