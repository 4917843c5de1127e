// Environment variables, and lists of paths as they hold them.
#ifndef HEARTH_CORE_BASE_ENVIRONMENT_H_
#define HEARTH_CORE_BASE_ENVIRONMENT_H_

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hearth {

// Empty if it is not set. The text belongs to the environment and is valid until the variable is set again.
inline std::string_view EnvironmentVariable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

// A copy, which may be empty; none if it is not set.
inline std::optional<std::string> VariableIfSet(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

// "NAME=value" of all whose names begin so, sorted.
inline std::vector<std::string> VariablesBeginningWith(std::string_view prefix) {
  std::vector<std::string> found;
  for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) {
    if (std::string_view(*entry).starts_with(prefix)) found.emplace_back(*entry);
  }
  std::ranges::sort(found);
  return found;
}

// The non-empty parts of "a:b::c", in order.
inline std::vector<std::string> PathsInList(std::string_view list) {
  std::vector<std::string> paths;
  while (!list.empty()) {
    const size_t end = std::min(list.find(':'), list.size());
    if (end > 0) paths.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return paths;
}

}  // namespace hearth

#endif  // HEARTH_CORE_BASE_ENVIRONMENT_H_
