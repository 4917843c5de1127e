#ifndef HEARTH_CORE_BASE_ALL_FINITE_H_
#define HEARTH_CORE_BASE_ALL_FINITE_H_

#include <algorithm>
#include <cmath>
#include <span>

namespace hearth {

// No NaN and no infinity is among them.
inline bool AllFinite(std::span<const float> numbers) {
  return std::ranges::all_of(numbers, [](float number) { return std::isfinite(number); });
}

}  // namespace hearth

#endif  // HEARTH_CORE_BASE_ALL_FINITE_H_
