#include "frontends/writer/names.h"

#include <algorithm>

#include "core/base/text.h"

namespace hearth {

std::string CleanName(std::string_view name) {
  std::string clean = Printable(name, '_');
  if (!IsUtf8(clean))
    std::ranges::replace_if(
        clean, [](unsigned char byte) { return byte >= 0x80; }, '_');
  return clean;
}

std::string ShortName(std::string_view name) {
  size_t length = std::min(name.size(), kMaxLabelBytes);
  while (length < name.size() && length > 0 && (name[length] & 0xc0) == 0x80) --length;
  return CleanName(name.substr(0, length));
}

}  // namespace hearth
