// Text from drivers and files may be in any encoding; JSON, Python and terminals expect UTF-8.
#ifndef HEARTH_CORE_BASE_UTF8_H_
#define HEARTH_CORE_BASE_UTF8_H_

#include <string>
#include <string_view>

namespace hearth {

// Without overlong forms, surrogates and anything beyond U+10FFFF.
bool IsUtf8(std::string_view text);

// The text with U+FFFD for each byte that is part of no character. Valid text stays as it is, byte for byte: device
// names are parts of cache keys.
std::string ValidUtf8(std::string_view text);

}  // namespace hearth

#endif  // HEARTH_CORE_BASE_UTF8_H_
