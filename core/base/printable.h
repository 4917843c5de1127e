// Text out of models, bundles, drivers and the environment, made safe for a terminal and for one line of a log.
#ifndef HEARTH_CORE_BASE_PRINTABLE_H_
#define HEARTH_CORE_BASE_PRINTABLE_H_

#include <string>
#include <string_view>

namespace hearth {

// Each byte of a control character becomes `replacement`: what moves a cursor, changes colours or turns the direction
// of the text around it (Unicode's C0, C1, U+007F and bidirectional controls). Characters in `kept` stay.
std::string Printable(std::string_view text, char replacement, std::string_view kept = "");

}  // namespace hearth

#endif  // HEARTH_CORE_BASE_PRINTABLE_H_
