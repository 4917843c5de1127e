// Environment variables, and lists of paths as they hold them.
#ifndef HEARTH_CORE_BASE_ENVIRONMENT_H_
#define HEARTH_CORE_BASE_ENVIRONMENT_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hearth {

// Empty if it is not set. The text belongs to the environment and is valid until the variable is set again.
std::string_view EnvironmentVariable(const char* name);

// A copy, which may be empty; none if it is not set.
std::optional<std::string> VariableIfSet(const char* name);

// "NAME=value" of all whose names begin so, sorted.
std::vector<std::string> VariablesBeginningWith(std::string_view prefix);

// The non-empty parts of "a:b::c", in order.
std::vector<std::string> PathsInList(std::string_view list);

}  // namespace hearth

#endif  // HEARTH_CORE_BASE_ENVIRONMENT_H_
