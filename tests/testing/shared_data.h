// Where the tests find the shared models, images and goldens, which are not part of the repository.
#ifndef HEARTH_TESTS_TESTING_SHARED_DATA_H_
#define HEARTH_TESTS_TESTING_SHARED_DATA_H_

#include <cstdlib>
#include <filesystem>

namespace hearth {

// The repository's root, where the demo model lies. __FILE__ may be relative to the folder that tests run in.
inline std::filesystem::path SourceFolder() {
  return std::filesystem::absolute(__FILE__).lexically_normal().parent_path().parent_path().parent_path();
}

// $HEARTH_SHARED, else the folder `shared` beside the repository. It may not exist.
inline std::filesystem::path SharedFolder() {
  if (const char* set = std::getenv("HEARTH_SHARED"); set != nullptr && *set != '\0') return set;
  return SourceFolder().parent_path() / "shared";
}

}  // namespace hearth

// Skips the test, saying why, when `path` (below SharedFolder()) is not there.
#define HEARTH_SKIP_WITHOUT(path) \
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << (path) << ": set HEARTH_SHARED to the shared data"

#endif  // HEARTH_TESTS_TESTING_SHARED_DATA_H_
