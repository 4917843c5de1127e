// Text as bytes, and bytes as text.
#ifndef HEARTH_CORE_BASE_TEXT_BYTES_H_
#define HEARTH_CORE_BASE_TEXT_BYTES_H_

#include <cstddef>
#include <span>
#include <string_view>

namespace hearth {

inline std::span<const std::byte> BytesOf(std::string_view text) {
  return std::as_bytes(std::span(text));
}
inline std::string_view TextFrom(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace hearth

#endif  // HEARTH_CORE_BASE_TEXT_BYTES_H_
