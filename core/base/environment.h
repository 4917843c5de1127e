// Environment variables, and lists of paths as they hold them.
#ifndef HEARTH_CORE_BASE_ENVIRONMENT_H_
#define HEARTH_CORE_BASE_ENVIRONMENT_H_

#include <string>
#include <string_view>
#include <vector>

namespace hearth {

// Empty where it is not set. The text is the process's own: it lasts until somebody sets the variable.
std::string_view EnvironmentVariable(const char* name);

// The parts of "a:b::c" that are not empty, in their order.
std::vector<std::string> PathsInList(std::string_view list);

}  // namespace hearth

#endif  // HEARTH_CORE_BASE_ENVIRONMENT_H_
