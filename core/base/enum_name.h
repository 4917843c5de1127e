// Enumerators by name.
#ifndef HEARTH_CORE_BASE_ENUM_NAME_H_
#define HEARTH_CORE_BASE_ENUM_NAME_H_

#include <cstddef>
#include <optional>
#include <string_view>

namespace hearth {

// The enumerator whose name is at its position in `names`.
template <typename Enum, size_t kCount>
std::optional<Enum> EnumNamed(const std::string_view (&names)[kCount], std::string_view name) {
  for (size_t k = 0; k < kCount; ++k) {
    if (names[k] == name) return static_cast<Enum>(k);
  }
  return std::nullopt;
}

}  // namespace hearth

#endif  // HEARTH_CORE_BASE_ENUM_NAME_H_
