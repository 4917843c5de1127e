// A folder that replaces "/", with the files in which the kernel reports memory, CPUs and control groups.
#ifndef HEARTH_TESTS_TESTING_FAKE_KERNEL_FILES_H_
#define HEARTH_TESTS_TESTING_FAKE_KERNEL_FILES_H_

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/testing/temporary_folder.h"

namespace hearth {

inline constexpr const char* kMountOfVersion2 =
    "29 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";

class FakeKernelFiles {
 public:
  const std::filesystem::path& root() const { return folder_.path(); }

  // `path` relative to the root, without a leading slash.
  void Write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = root() / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }

  // The mount points of control groups, and this process's groups: lines of mountinfo and of cgroup.
  void WriteGroups(const std::string& mounts, const std::string& groups) const {
    Write("proc/self/mountinfo", mounts);
    Write("proc/self/cgroup", groups);
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace hearth

#endif  // HEARTH_TESTS_TESTING_FAKE_KERNEL_FILES_H_
