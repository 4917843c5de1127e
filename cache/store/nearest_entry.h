// Answers "why was this a miss?" by the stored entry whose key differs least.
#ifndef HEARTH_CACHE_STORE_NEAREST_ENTRY_H_
#define HEARTH_CACHE_STORE_NEAREST_ENTRY_H_

#include <optional>
#include <string_view>
#include <vector>

#include "hearth/cache_types.h"

namespace hearth {

struct NearestEntry {
  const CacheEntry* entry = nullptr;
  std::vector<CacheKeyDifference> differences;  // empty: the entry is the requested one
};
// The entry of this kind with the fewest differing fields, the first of equals; nullopt if there is none of that kind.
std::optional<NearestEntry> FindNearestEntry(const std::vector<CacheEntry>& entries, std::string_view kind,
                                             const CacheKeyFields& wanted);

}  // namespace hearth

#endif  // HEARTH_CACHE_STORE_NEAREST_ENTRY_H_
