// A test's own folder, empty at first, removed with its content at the end.
#ifndef HEARTH_TESTS_TESTING_TEMPORARY_FOLDER_H_
#define HEARTH_TESTS_TESTING_TEMPORARY_FOLDER_H_

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace hearth {

class TemporaryFolder {
 public:
  // In memory if possible: for thousands of small files, which a disk would have to sync.
  enum class Place { kDisk, kMemory };

  explicit TemporaryFolder(Place place = Place::kDisk) {
    const bool in_memory = place == Place::kMemory && ::access("/dev/shm", W_OK | X_OK) == 0;
    const std::filesystem::path parent = in_memory ? "/dev/shm" : std::filesystem::temp_directory_path();
    std::string pattern = (parent / "hearth-test-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace hearth

#endif  // HEARTH_TESTS_TESTING_TEMPORARY_FOLDER_H_
