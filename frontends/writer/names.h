// Names out of a file, for messages, JSON and graph texts.
#ifndef HEARTH_FRONTENDS_WRITER_NAMES_H_
#define HEARTH_FRONTENDS_WRITER_NAMES_H_

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "core/base/text.h"

namespace hearth {

// Printable UTF-8: control characters become '_'; if the text is not UTF-8, all bytes beyond ASCII do too.
inline std::string CleanName(std::string_view name) {
  std::string clean = Printable(name, '_');
  if (!IsUtf8(clean))
    std::ranges::replace_if(
        clean, [](unsigned char byte) { return byte >= 0x80; }, '_');
  return clean;
}

// Longer names are cut in messages.
inline constexpr size_t kMaxLabelBytes = 200;
// The beginning of a name, for a message: at most kMaxLabelBytes, no part of a character. Cut before it is cleaned, so
// that a long name takes no time either.
inline std::string ShortName(std::string_view name) {
  size_t length = std::min(name.size(), kMaxLabelBytes);
  while (length < name.size() && length > 0 && (name[length] & 0xc0) == 0x80) --length;
  return CleanName(name.substr(0, length));
}

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_WRITER_NAMES_H_
