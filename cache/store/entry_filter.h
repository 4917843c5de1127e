// Selects entries by a filter.
#ifndef HEARTH_CACHE_STORE_ENTRY_FILTER_H_
#define HEARTH_CACHE_STORE_ENTRY_FILTER_H_

#include "hearth/cache_types.h"
#include "hearth/status.h"

namespace hearth {

// The filter with hex digits in small letters. kInvalidArgument for an unknown kind, or a key or digest that is not hex
// digits or has too many: a revocation would seem to succeed without deleting anything.
Result<CacheFilter> CheckedFilter(CacheFilter filter);

bool Matches(const CacheEntry& entry, const CacheFilter& filter);  // `filter` must be checked

// False if it selects every entry.
bool IsRestricted(const CacheFilter& filter);

}  // namespace hearth

#endif  // HEARTH_CACHE_STORE_ENTRY_FILTER_H_
