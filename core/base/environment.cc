#include "core/base/environment.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace hearth {

std::string_view EnvironmentVariable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

std::optional<std::string> VariableIfSet(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

std::vector<std::string> VariablesBeginningWith(std::string_view prefix) {
  std::vector<std::string> found;
  for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) {
    if (std::string_view(*entry).starts_with(prefix)) found.emplace_back(*entry);
  }
  std::ranges::sort(found);
  return found;
}

std::vector<std::string> PathsInList(std::string_view list) {
  std::vector<std::string> paths;
  while (!list.empty()) {
    const size_t end = std::min(list.find(':'), list.size());
    if (end > 0) paths.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return paths;
}

}  // namespace hearth
