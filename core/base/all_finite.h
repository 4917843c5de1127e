#ifndef HEARTH_CORE_BASE_ALL_FINITE_H_
#define HEARTH_CORE_BASE_ALL_FINITE_H_

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace hearth {

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

}  // namespace hearth

#endif  // HEARTH_CORE_BASE_ALL_FINITE_H_
