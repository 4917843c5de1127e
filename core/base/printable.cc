#include "core/base/printable.h"

#include <algorithm>

namespace hearth {
namespace {

bool IsBetween(char c, unsigned char least, unsigned char most) {
  const auto byte = static_cast<unsigned char>(c);
  return least <= byte && byte <= most;
}

// How many bytes the control character at the beginning of `text` has in UTF-8; 0 for any other character.
size_t ControlBytes(std::string_view text) {
  if (IsBetween(text[0], 0x00, 0x1f) || text[0] == 0x7f) return 1;
  if (text.size() > 1 && IsBetween(text[0], 0xc2, 0xc2) && IsBetween(text[1], 0x80, 0x9f)) return 2;  // C1
  // U+202A to U+202E and U+2066 to U+2069.
  const bool is_bidirectional = text.starts_with("\xe2\x80") && text.size() > 2 && IsBetween(text[2], 0xaa, 0xae);
  const bool is_isolate = text.starts_with("\xe2\x81") && text.size() > 2 && IsBetween(text[2], 0xa6, 0xa9);
  return is_bidirectional || is_isolate ? 3 : 0;
}

}  // namespace

std::string Printable(std::string_view text, char replacement, std::string_view kept) {
  std::string printable(text);
  for (size_t at = 0; at < text.size();) {
    const size_t size_bytes = kept.find(text[at]) == std::string_view::npos ? ControlBytes(text.substr(at)) : 0;
    std::fill_n(printable.begin() + static_cast<std::ptrdiff_t>(at), size_bytes, replacement);
    at += std::max<size_t>(size_bytes, 1);
  }
  return printable;
}

}  // namespace hearth
