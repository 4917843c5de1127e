#ifndef HEARTH_CORE_BASE_NUMBER_TEXT_H_
#define HEARTH_CORE_BASE_NUMBER_TEXT_H_

#include <charconv>
#include <string_view>
#include <system_error>

namespace hearth {

// Whether the whole text is a number, which is then in `number`.
template <typename T>
bool NumberFrom(std::string_view text, T& number) {
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && rest == end;
}

}  // namespace hearth

#endif  // HEARTH_CORE_BASE_NUMBER_TEXT_H_
