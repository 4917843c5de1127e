#include "tests/testing/shared_data.h"

#include <cstdlib>

namespace hearth {

// From the build description: __FILE__ may be relative to a folder that the compiler cache chooses.
std::filesystem::path SourceFolder() {
  return HEARTH_SOURCE_FOLDER;
}

std::filesystem::path SharedFolder() {
  if (const char* set = std::getenv("HEARTH_SHARED"); set != nullptr && *set != '\0') return set;
  return SourceFolder().parent_path() / "shared";
}

}  // namespace hearth
