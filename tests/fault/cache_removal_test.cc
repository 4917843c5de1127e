// Clearing and pruning: on full disks, and beside sessions that store meanwhile.
#include <sys/mount.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <thread>

#include "cache/database.h"
#include "cache/reports.h"
#include "tests/testing/cache_folder.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;
using testing::CacheFolder;
using testing::NumberedBlob;
using testing::NumberedKey;
using testing::PutOne;

// A small file system of its own, filled up behind the store.
class FullDisk {
 public:
  FullDisk() {
    folder_ = parent_.path() / "small";
    fs::create_directory(folder_);
    is_mounted_ = ::mount("none", folder_.c_str(), "tmpfs", 0, "size=1m,mode=700") == 0;
    error_ = errno;
    options_.folder = folder_;
  }
  ~FullDisk() {
    if (is_mounted_) ::umount(folder_.c_str());
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

  bool is_mounted() const { return is_mounted_; }
  const char* why_not() const { return std::strerror(error_); }
  const StoreOptions& options() const { return options_; }
  const fs::path& folder() const { return folder_; }

  // A store of six entries, closed, and then no byte left.
  void Fill() {
    for (int number = 0; number < 6; ++number) {
      PutOne(*CacheFolder::Open(options_), NumberedKey(number), NumberedBlob(number, 40000));
    }
    std::ofstream filler(folder_ / "filler", std::ios::binary);
    const std::string block(4096, 'x');
    while (filler.write(block.data(), 4096).flush()) {
    }
  }

 private:
  CacheFolder parent_;
  fs::path folder_;
  StoreOptions options_;
  bool is_mounted_ = false;
  int error_ = 0;
};

TEST(CacheOnAFullDisk, AStoreThatWasClosedCleanlyIsStillRead) {
  FullDisk disk;
  if (!disk.is_mounted()) GTEST_SKIP() << "mounting is not allowed here: " << disk.why_not();
  disk.Fill();
  const auto store = CacheFolder::Open(disk.options());
  ASSERT_NE(store, nullptr);
  for (int number = 0; number < 6; ++number) EXPECT_EQ(store->Get(NumberedKey(number)), NumberedBlob(number, 40000));
  PutOne(*store, NumberedKey(7), NumberedBlob(7, 40000));
  EXPECT_EQ(store->counters().put_errors, 1u);
  const auto warnings = store->TakeWarnings();
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("the disk is full"), std::string::npos) << warnings[0];
  EXPECT_EQ(ListEntries(disk.folder())->size(), 6u);
  EXPECT_EQ(ReadStoreStats(disk.folder())->entries, 6u);
  EXPECT_TRUE(VerifyStore(disk.folder(), false)->clean());
}

TEST(CacheOnAFullDisk, ClearingWorksAndTheNextSessionStores) {
  FullDisk disk;
  if (!disk.is_mounted()) GTEST_SKIP() << "mounting is not allowed here: " << disk.why_not();
  disk.Fill();
  const auto removed = ClearStore(disk.folder());
  ASSERT_TRUE(removed.ok()) << removed.status().message();
  EXPECT_EQ(removed->entries, 6u);
  const auto store = CacheFolder::Open(disk.options());
  PutOne(*store, NumberedKey(7), NumberedBlob(7, 40000));
  EXPECT_EQ(store->Get(NumberedKey(7)), NumberedBlob(7, 40000));
}

TEST(CacheOnAFullDisk, PruningAndClearingAPartWork) {
  FullDisk disk;
  if (!disk.is_mounted()) GTEST_SKIP() << "mounting is not allowed here: " << disk.why_not();
  disk.Fill();
  const auto pruned = PruneStore(disk.folder(), 290000);
  ASSERT_TRUE(pruned.ok()) << pruned.status().message();
  EXPECT_GT(pruned->entries, 0u);
  EXPECT_LE(fs::file_size(disk.folder() / kStoreFileName), 290000u);
  CacheFilter filter;
  filter.digest_prefix = NumberedKey(5).digest().ToHex();
  EXPECT_EQ(ClearStore(disk.folder(), filter)->entries, 1u);
  EXPECT_TRUE(VerifyStore(disk.folder(), false)->clean());
  const auto store = CacheFolder::Open(disk.options());
  PutOne(*store, NumberedKey(7), NumberedBlob(7, 40000));
  EXPECT_EQ(store->Get(NumberedKey(7)), NumberedBlob(7, 40000));
}

TEST(CacheRemoval, ASessionThatIsOpenWhileTheCacheIsClearedStoresIntoTheNewFile) {
  const CacheFolder folder;
  const auto store = folder.Open();
  PutOne(*store, NumberedKey(1), NumberedBlob(1, 1000));
  ASSERT_EQ(ClearStore(folder.path())->entries, 1u);
  PutOne(*store, NumberedKey(2), NumberedBlob(2, 1000));
  EXPECT_EQ(store->counters().put_errors, 0u);
  const auto next = folder.Open();
  EXPECT_FALSE(next->Get(NumberedKey(1)));
  EXPECT_TRUE(next->Get(NumberedKey(2)));
  EXPECT_TRUE(store->TakeWarnings().empty());
}

TEST(CacheRemoval, ASessionThatClosesAfterTheClearingLeavesTheNewFileAlone) {
  const CacheFolder folder;
  auto old = folder.Open();
  PutOne(*old, NumberedKey(1), NumberedBlob(1, 1000));
  ASSERT_TRUE(ClearStore(folder.path()).ok());
  const auto fresh = folder.Open();
  PutOne(*fresh, NumberedKey(2), NumberedBlob(2, 1000));
  old.reset();
  EXPECT_TRUE(fresh->Get(NumberedKey(2)));
  PutOne(*fresh, NumberedKey(3), NumberedBlob(3, 1000));
  EXPECT_TRUE(VerifyStore(folder.path(), false)->clean());
  EXPECT_EQ(ListEntries(folder.path())->size(), 2u);
}

TEST(CacheRemoval, PruningALargeStoreKeepsItsLogSmallAndLetsWritersThrough) {
  const CacheFolder folder;
  constexpr int kEntries = 300;
  {
    const auto store = folder.Open();
    const PutBatch batch(store.get());
    for (int number = 0; number < kEntries; ++number) PutOne(*store, NumberedKey(number), NumberedBlob(number, 500000));
  }
  const uint64_t before = fs::file_size(folder.file());
  std::atomic<bool> is_done = false;
  std::atomic<uint64_t> largest_log = 0;
  std::thread watcher([&] {
    while (!is_done) {
      std::error_code error;
      const uint64_t size = fs::file_size(folder.file().string() + "-wal", error);
      if (!error && size > largest_log) largest_log = size;
      std::this_thread::yield();
    }
  });
  const pid_t writer = testing::StartProcess([&] {
    SessionWaits waits;
    StoreOptions options = folder.options();
    options.waits = &waits;
    const auto store = SqliteStore::Open(options);
    if (!store.ok()) return 1;
    for (int number = 0; number < 50; ++number) PutOne(**store, NumberedKey(1000 + number), NumberedBlob(number, 5000));
    return (*store)->counters().put_errors == 0 ? 0 : 2;
  });
  const auto removed = PruneStore(folder.path(), before / 2);
  is_done = true;
  watcher.join();
  ASSERT_TRUE(removed.ok()) << removed.status().message();
  EXPECT_EQ(testing::WaitFor(writer), 0);
  EXPECT_LE(fs::file_size(folder.file()), before / 2 + (1 << 20));
  EXPECT_LT(largest_log, uint64_t{64} << 20);
  const auto store = folder.Open();
  for (int number = 0; number < 50; ++number) EXPECT_TRUE(store->Get(NumberedKey(1000 + number))) << number;
}

}  // namespace
}  // namespace hearth
