#ifndef HEARTH_CORE_BASE_LOWER_CASE_H_
#define HEARTH_CORE_BASE_LOWER_CASE_H_

#include <algorithm>
#include <string>
#include <string_view>

namespace hearth {

// The text with a to z for A to Z, under any locale. Other bytes stay, so UTF-8 remains UTF-8.
inline std::string LowerCase(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return lower;
}

}  // namespace hearth

#endif  // HEARTH_CORE_BASE_LOWER_CASE_H_
