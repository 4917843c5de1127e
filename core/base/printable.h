// Makes text from models, bundles, drivers and the environment safe for a terminal and for one line of a log.
#ifndef HEARTH_CORE_BASE_PRINTABLE_H_
#define HEARTH_CORE_BASE_PRINTABLE_H_

#include <string>
#include <string_view>

namespace hearth {

// Replaces each byte of a control character by `replacement`: characters that move a cursor, change colours or change
// the text's direction (Unicode's C0, C1, U+007F and bidirectional controls). Characters in `kept` stay.
std::string Printable(std::string_view text, char replacement, std::string_view kept = "");

}  // namespace hearth

#endif  // HEARTH_CORE_BASE_PRINTABLE_H_
