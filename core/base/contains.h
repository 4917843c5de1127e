#ifndef HEARTH_CORE_BASE_CONTAINS_H_
#define HEARTH_CORE_BASE_CONTAINS_H_

#include <algorithm>
#include <cstddef>
#include <functional>
#include <ranges>
#include <utility>

namespace hearth {

// Whether an item of `list` is `item`, or has it as its `part`, as in Contains(defines, "HALF", &Define::name).
template <std::ranges::input_range List, typename Item, typename Part = std::identity>
constexpr bool Contains(const List& list, const Item& item, Part part = {}) {
  return std::ranges::find(list, item, std::move(part)) != std::ranges::end(list);
}

// Whether each row of a table has its place there as its `part`, as in AreInOrder(kRules, &DeviceRule::rule).
template <typename Row, size_t kCount, typename Part>
constexpr bool AreInOrder(const Row (&rows)[kCount], Part Row::*part) {
  for (size_t k = 0; k < kCount; ++k) {
    if (static_cast<size_t>(rows[k].*part) != k) return false;
  }
  return true;
}

}  // namespace hearth

#endif  // HEARTH_CORE_BASE_CONTAINS_H_
