#include "core/base/utf8.h"

#include <cstddef>

namespace hearth {
namespace {

// How many bytes the character at the beginning of `text` has; 0 if there is none.
size_t CharacterBytes(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const size_t length = lead < 0x80                   ? 1
                        : lead >= 0xc2 && lead < 0xe0 ? 2
                        : lead >= 0xe0 && lead < 0xf0 ? 3
                        : lead >= 0xf0 && lead < 0xf5 ? 4
                                                      : 0;
  if (length > text.size()) return 0;
  for (size_t k = 1; k < length; ++k) {
    if ((static_cast<unsigned char>(text[k]) & 0xc0) != 0x80) return 0;
  }
  if (length < 3) return length;
  // Overlong forms, surrogates, beyond U+10FFFF.
  const auto second = static_cast<unsigned char>(text[1]);
  const bool is_wrong = (lead == 0xe0 && second < 0xa0) || (lead == 0xed && second >= 0xa0) ||
                        (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second >= 0x90);
  return is_wrong ? 0 : length;
}

}  // namespace

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = CharacterBytes(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string ValidUtf8(std::string_view text) {
  std::string valid;
  while (!text.empty()) {
    const size_t length = CharacterBytes(text);
    valid += length != 0 ? text.substr(0, length) : std::string_view("\xef\xbf\xbd");
    text.remove_prefix(length != 0 ? length : 1);
  }
  return valid;
}

}  // namespace hearth
