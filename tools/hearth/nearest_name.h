// Suggests a name for a mistyped word.
#ifndef HEARTH_TOOLS_HEARTH_NEAREST_NAME_H_
#define HEARTH_TOOLS_HEARTH_NEAREST_NAME_H_

#include <span>
#include <string>
#include <string_view>

namespace hearth {

// The name with the fewest inserted, omitted, changed or swapped letters, if they are at most two and fewer than half
// of the word; empty if there is none.
std::string Nearest(std::string_view word, std::span<const std::string> names);

}  // namespace hearth

#endif  // HEARTH_TOOLS_HEARTH_NEAREST_NAME_H_
