// Reads the decoded fields of a key.
#ifndef HEARTH_CACHE_KEY_VALUES_H_
#define HEARTH_CACHE_KEY_VALUES_H_

#include <algorithm>
#include <string>
#include <string_view>

#include "hearth/cache_types.h"

namespace hearth {

// The value of the field called `name`; empty if there is none.
inline std::string ValueOf(const CacheKeyFields& fields, std::string_view name) {
  const auto found = std::ranges::find(fields, name, &CacheKeyFields::value_type::first);
  return found == fields.end() ? std::string() : found->second;
}

}  // namespace hearth

#endif  // HEARTH_CACHE_KEY_VALUES_H_
