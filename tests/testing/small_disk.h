// A test's own file system in memory, which can be filled up or made read-only under a store. Only root may mount: for
// other users tests are skipped.
#ifndef HEARTH_TESTS_TESTING_SMALL_DISK_H_
#define HEARTH_TESTS_TESTING_SMALL_DISK_H_

#include <gtest/gtest.h>
#include <sys/mount.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/testing/cache_folder.h"

namespace hearth::testing {

class SmallDisk {
 public:
  explicit SmallDisk(const std::string& size = "1m") {  // and further options: "1m,nr_inodes=9"
    folder_ = parent_.path() / "small";
    std::filesystem::create_directory(folder_);
    is_mounted_ = ::mount("none", folder_.c_str(), "tmpfs", 0, ("mode=700,size=" + size).c_str()) == 0;
    error_ = errno;
    options_.folder = folder_;
  }
  ~SmallDisk() {
    if (is_mounted_) ::umount(folder_.c_str());
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  bool is_mounted() const { return is_mounted_; }
  const char* why_not() const { return std::strerror(error_); }
  const StoreOptions& options() const { return options_; }
  const std::filesystem::path& folder() const { return folder_; }

  // A store of six entries, closed.
  void PutSix() const {
    for (int number = 0; number < 6; ++number) {
      PutOne(*CacheFolder::Open(options_), NumberedKey(number), NumberedBlob(number, 40000));
    }
  }
  // Expects that the six are read and that another can't be put. The warning about that.
  std::string WarningOfASeventh() const {
    const auto store = CacheFolder::Open(options_);
    if (store == nullptr) return "no store";
    for (int number = 0; number < 6; ++number) EXPECT_EQ(store->Get(NumberedKey(number)), NumberedBlob(number, 40000));
    PutOne(*store, NumberedKey(7), NumberedBlob(7, 40000));
    EXPECT_EQ(store->counters().put_errors, 1u);
    const auto warnings = store->TakeWarnings();
    EXPECT_EQ(warnings.size(), 1u);
    return warnings.empty() ? "no warning" : warnings[0];
  }
  // Leaves no free byte.
  void FillUp() const {
    std::ofstream filler(folder_ / "filler", std::ios::binary);
    const std::string block(4096, 'x');
    while (filler.write(block.data(), 4096).flush()) {
    }
  }
  // No file more can be made.
  void TakeAllFiles() const {
    for (int k = 0; std::ofstream(folder_ / ("taken" + std::to_string(k))).is_open(); ++k) {
    }
  }
  bool MakeReadOnly() const { return ::mount("none", folder_.c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr) == 0; }

 private:
  CacheFolder parent_;
  std::filesystem::path folder_;
  StoreOptions options_;
  bool is_mounted_ = false;
  int error_ = 0;
};

#define SKIP_WITHOUT_MOUNTING(disk) \
  if (!(disk).is_mounted()) GTEST_SKIP() << "mounting is not allowed here: " << (disk).why_not()

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_TESTING_SMALL_DISK_H_
