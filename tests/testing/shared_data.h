// The folders of shared models, images and goldens, which are not part of the repository.
#ifndef HEARTH_TESTS_TESTING_SHARED_DATA_H_
#define HEARTH_TESTS_TESTING_SHARED_DATA_H_

#include <cstdlib>
#include <filesystem>

namespace hearth {

// The repository's root, which contains the demo model.
std::filesystem::path SourceFolder();

// $HEARTH_SHARED, else the folder `shared` beside the repository. It may not exist.
std::filesystem::path SharedFolder();

}  // namespace hearth

// Skips the test, with the reason, if `path` (below SharedFolder()) does not exist.
#define HEARTH_SKIP_WITHOUT(path) \
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << (path) << ": set HEARTH_SHARED to the shared data"

#endif  // HEARTH_TESTS_TESTING_SHARED_DATA_H_
