#ifndef HEARTH_CORE_BASE_ROUND_UP_H_
#define HEARTH_CORE_BASE_ROUND_UP_H_

#include <type_traits>

namespace hearth {

// The next multiple. Precondition: number >= 0, multiple > 0, and the result fits.
template <typename T>
constexpr T RoundUp(T number, std::type_identity_t<T> multiple) {
  return (number + multiple - 1) / multiple * multiple;
}

}  // namespace hearth

#endif  // HEARTH_CORE_BASE_ROUND_UP_H_
