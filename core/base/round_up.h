#ifndef HEARTH_CORE_BASE_ROUND_UP_H_
#define HEARTH_CORE_BASE_ROUND_UP_H_

#include <cstdint>
#include <type_traits>

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

}  // namespace hearth

#endif  // HEARTH_CORE_BASE_ROUND_UP_H_
