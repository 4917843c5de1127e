// What a mistyped word may have meant.
#ifndef HEARTH_TOOLS_HEARTH_NEAREST_NAME_H_
#define HEARTH_TOOLS_HEARTH_NEAREST_NAME_H_

#include <span>
#include <string>
#include <string_view>

namespace hearth {

// The name with the fewest letters put in, left out, changed or swapped with their neighbour, where that are at most
// two and fewer than half of the word; empty without one.
std::string Nearest(std::string_view word, std::span<const std::string> names);

}  // namespace hearth

#endif  // HEARTH_TOOLS_HEARTH_NEAREST_NAME_H_
