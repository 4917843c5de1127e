// Text: as bytes, numbers and sizes, in parts, in lower case, from other sources made safe to show.
#ifndef HEARTH_CORE_BASE_TEXT_H_
#define HEARTH_CORE_BASE_TEXT_H_

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "hearth/status.h"

namespace hearth {

inline std::span<const std::byte> BytesOf(std::string_view text) {
  return std::as_bytes(std::span(text));
}
inline std::string_view TextFrom(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Whether the whole text is a number, which is then in `number`.
template <typename T>
bool NumberFrom(std::string_view text, T& number) {
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && rest == end;
}

// `made`, or with a number behind it if that is taken.
template <typename IsTaken>
std::string FreeName(const std::string& made, const IsTaken& is_taken) {
  std::string name = made;
  for (int number = 2; is_taken(name); ++number) name = made + "_" + std::to_string(number);
  return name;
}

// The enumerator whose name is at its position in `names`.
template <typename Enum, size_t kCount>
std::optional<Enum> EnumNamed(const std::string_view (&names)[kCount], std::string_view name) {
  for (size_t k = 0; k < kCount; ++k) {
    if (names[k] == name) return static_cast<Enum>(k);
  }
  return std::nullopt;
}

// The text with a to z for A to Z, under any locale. Other bytes stay, so UTF-8 remains UTF-8.
std::string LowerCase(std::string_view text);

// Text from drivers and files may be in any encoding; JSON, Python and terminals expect UTF-8. This is without overlong
// forms, surrogates and anything beyond U+10FFFF.
bool IsUtf8(std::string_view text);

// The text with U+FFFD for each byte that is part of no character. Valid text stays as it is, byte for byte: device
// names are parts of cache keys.
std::string ValidUtf8(std::string_view text);

// Makes text from models, bundles, drivers and the environment safe for a terminal and for one line of a log: replaces
// each byte of a control character by `replacement`. Those move a cursor, change colours or change the text's direction
// (Unicode's C0, C1, U+007F and bidirectional controls); U+FFFE and U+FFFF are none. Characters in `kept` stay.
std::string Printable(std::string_view text, char replacement, std::string_view kept = "");

// Escapes text for XML, HTML and SVG, also in attributes. Control characters, which XML cannot express, become '?'.
std::string XmlEscaped(std::string_view text);

// The name with the fewest inserted, omitted, changed or swapped letters, if they are at most two and fewer than half
// of the word; empty if there is none.
std::string NearestName(std::string_view word, std::span<const std::string> names);

// Without blanks, tabs and ends of lines at both ends.
std::string_view Trimmed(std::string_view text);

// The parts of "a,b". An empty text has none, and a separator at the end begins none.
std::vector<std::string_view> PartsOf(std::string_view text, char separator);

// "1500", "64K", "256M", "1.5G", "256MiB" use powers of 1024; "256MB" powers of 1000. kInvalidArgument says what is
// expected.
Result<uint64_t> ParseSizeBytes(std::string_view text);

// A text file compiled into the library (cmake/EmbedFiles.cmake).
struct EmbeddedFile {
  std::string_view name;  // the file's name without its ending
  std::string_view text;
};

}  // namespace hearth

#endif  // HEARTH_CORE_BASE_TEXT_H_
