// Names out of a file, for messages, JSON and graph texts.
#ifndef HEARTH_FRONTENDS_WRITER_NAMES_H_
#define HEARTH_FRONTENDS_WRITER_NAMES_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace hearth {

// Printable UTF-8: control characters become '_'; if the text is not UTF-8, all bytes beyond ASCII do too.
std::string CleanName(std::string_view name);

// Longer names are cut in messages.
inline constexpr size_t kMaxLabelBytes = 200;
// The beginning of a name, for a message: at most kMaxLabelBytes, no part of a character. Cut before it is cleaned, so
// that a long name takes no time either.
std::string ShortName(std::string_view name);

}  // namespace hearth

#endif  // HEARTH_FRONTENDS_WRITER_NAMES_H_
