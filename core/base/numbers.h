// Small functions of numbers.
#ifndef HEARTH_CORE_BASE_NUMBERS_H_
#define HEARTH_CORE_BASE_NUMBERS_H_

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

namespace hearth {

// The next multiple of `multiple`. Precondition: number >= 0, multiple > 0, and the result fits.
template <typename T>
constexpr T RoundUp(T number, std::type_identity_t<T> multiple) {
  return (number + multiple - 1) / multiple * multiple;
}

// How many tiles cover a size. Precondition: size >= 0 and tile > 0.
constexpr int64_t Tiles(int64_t size, int64_t tile) {
  return (size + tile - 1) / tile;
}

// The sample in the middle, for an even number of samples the upper one of the two. Precondition: not empty.
inline double Median(std::vector<double> samples) {
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

// No NaN and no infinity is among them.
inline bool AllFinite(std::span<const float> numbers) {
  constexpr size_t kBlock = 1024;  // without an exit inside, so that the compiler takes several at once
  while (!numbers.empty()) {
    const std::span<const float> block = numbers.first(std::min(kBlock, numbers.size()));
    uint32_t found = 0;
    for (const float number : block) {
      found |= (std::bit_cast<uint32_t>(number) & 0x7f800000u) == 0x7f800000u ? 1u : 0u;
    }
    if (found != 0) return false;
    numbers = numbers.subspan(block.size());
  }
  return true;
}

inline bool AllFinite(std::span<const double> numbers) {
  return std::ranges::all_of(numbers, [](double number) { return std::isfinite(number); });
}

// NaN if one of them is NaN: std::max and std::min drop either the first or the second.
template <typename Number>
Number LargerOf(Number a, Number b) {
  return a < b || std::isnan(b) ? b : a;
}
template <typename Number>
Number SmallerOf(Number a, Number b) {
  return b < a || std::isnan(b) ? b : a;
}

}  // namespace hearth

#endif  // HEARTH_CORE_BASE_NUMBERS_H_
