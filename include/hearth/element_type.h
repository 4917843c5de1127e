// The C++ types of tensors' elements.
#ifndef HEARTH_ELEMENT_TYPE_H_
#define HEARTH_ELEMENT_TYPE_H_

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace hearth {

// TensorInfo::dtype of tensors with elements of type T: "float32" for float. Other types do not compile. C++20 has no
// type for float16, which is read as bytes.
template <typename T>
constexpr std::string_view ElementTypeName() {
  if constexpr (std::is_same_v<T, float>) {
    return "float32";
  } else if constexpr (std::is_same_v<T, double>) {
    return "float64";
  } else if constexpr (std::is_same_v<T, int8_t>) {
    return "int8";
  } else if constexpr (std::is_same_v<T, uint8_t>) {
    return "uint8";
  } else if constexpr (std::is_same_v<T, int16_t>) {
    return "int16";
  } else if constexpr (std::is_same_v<T, uint16_t>) {
    return "uint16";
  } else if constexpr (std::is_same_v<T, int32_t>) {
    return "int32";
  } else if constexpr (std::is_same_v<T, uint32_t>) {
    return "uint32";
  } else if constexpr (std::is_same_v<T, int64_t>) {
    return "int64";
  } else if constexpr (std::is_same_v<T, uint64_t>) {
    return "uint64";
  } else {
    static_assert(std::is_same_v<T, bool>, "no tensor has elements of this type");
    return "bool";
  }
}

}  // namespace hearth

#endif  // HEARTH_ELEMENT_TYPE_H_
