// Clearing and pruning: on full disks, and beside sessions that store meanwhile.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <fstream>
#include <functional>
#include <limits>
#include <new>
#include <thread>

#include "cache/desk/reports.h"
#include "cache/files/database.h"
#include "cache/files/locked_file.h"
#include "cache/store/entry_row.h"
#include "cache/store/removal.h"
#include "core/base/descriptor.h"
#include "tests/testing/cache_folder.h"
#include "tests/testing/small_disk.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using testing::CacheFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::NumberedBlob;
using testing::NumberedKey;
using testing::PutOne;
using testing::SmallDisk;
using testing::StartProcess;
using testing::WaitFor;

TEST(CacheOnAFullDisk, AStoreThatWasClosedCleanlyIsStillRead) {
  const SmallDisk disk;
  SKIP_WITHOUT_MOUNTING(disk);
  disk.PutSix();
  disk.FillUp();
  EXPECT_THAT(disk.WarningOfASeventh(), ::testing::HasSubstr("the disk is full"));
  EXPECT_EQ(ListEntries(disk.folder())->size(), 6u);
  EXPECT_EQ(ReadStoreStats(disk.folder())->entries, 6u);
  EXPECT_TRUE(VerifyStore(disk.folder(), false)->clean());
}

TEST(CacheOnAFullDisk, ClearingWorksAndTheNextSessionStores) {
  const SmallDisk disk;
  SKIP_WITHOUT_MOUNTING(disk);
  disk.PutSix();
  disk.FillUp();
  const auto removed = ClearStore(disk.folder());
  ASSERT_TRUE(removed.ok()) << removed.status().message();
  EXPECT_EQ(removed->entries, 6u);
  const auto store = CacheFolder::Open(disk.options());
  PutOne(*store, NumberedKey(7), NumberedBlob(7, 40000));
  EXPECT_EQ(store->Get(NumberedKey(7)), NumberedBlob(7, 40000));
}

TEST(CacheOnAFullDisk, PruningAndClearingAPartWork) {
  const SmallDisk disk;
  SKIP_WITHOUT_MOUNTING(disk);
  disk.PutSix();
  disk.FillUp();
  const auto pruned = PruneStore(disk.folder(), 306000);
  ASSERT_TRUE(pruned.ok()) << pruned.status().message();
  EXPECT_GT(pruned->entries, 0u);
  EXPECT_LE(fs::file_size(disk.folder() / kStoreFileName), 306000u);
  CacheFilter filter{.digest_prefix = NumberedKey(5).digest().ToHex()};
  EXPECT_EQ(ClearStore(disk.folder(), filter)->entries, 1u);
  EXPECT_TRUE(VerifyStore(disk.folder(), false)->clean());
  const auto store = CacheFolder::Open(disk.options());
  PutOne(*store, NumberedKey(7), NumberedBlob(7, 40000));
  EXPECT_EQ(store->Get(NumberedKey(7)), NumberedBlob(7, 40000));
}

TEST(CacheOnAFullDisk, WithoutRoomForOneFileMoreItIsReadAndCleared) {
  const SmallDisk disk("2m,nr_inodes=9");
  SKIP_WITHOUT_MOUNTING(disk);
  disk.PutSix();
  disk.TakeAllFiles();
  {
    const auto store = CacheFolder::Open(disk.options());
    ASSERT_NE(store, nullptr);
    EXPECT_EQ(store->Get(NumberedKey(5)), NumberedBlob(5, 40000));
    EXPECT_THAT(store->TakeWarnings(), ElementsAre(HasSubstr("no inode for one more file: remove files there")));
  }
  EXPECT_THAT(std::string(PruneStore(disk.folder(), 290000).status().message()),
              AllOf(HasSubstr("no inode for one more file"), HasSubstr(disk.folder().string())));
  EXPECT_TRUE(VerifyStore(disk.folder(), false)->clean());
  const auto cleared = ClearStore(disk.folder());
  ASSERT_TRUE(cleared.ok()) << cleared.status().message();
  EXPECT_EQ(cleared->entries, 6u);
}

TEST(CacheOnAFullDisk, WithoutRoomForTheStoresFileItSaysWhatIsFull) {
  const SmallDisk disk("2m,nr_inodes=3");
  SKIP_WITHOUT_MOUNTING(disk);
  disk.TakeAllFiles();
  EXPECT_THAT(std::string(testing::StoreCache::Open(disk.options()).status().message()),
              HasSubstr("no inode for one more file: remove files there"));
}

TEST(CacheRemoval, AStoreFileThatIsAMountPointIsNotClearedButAllItsEntriesMayBeDeleted) {
  const CacheFolder folder;
  PutOne(*folder.Open(), NumberedKey(1), NumberedBlob(1, 1000));
  const std::string file = folder.file();
  if (::mount(file.c_str(), file.c_str(), nullptr, MS_BIND, nullptr) != 0)
    GTEST_SKIP() << "mounting: " << std::strerror(errno);
  const auto cleared = ClearStore(folder.path());
  CacheFilter older;
  older.unused_since_ms = std::numeric_limits<int64_t>::max();
  const auto deleted = ClearStore(folder.path(), older);
  ::umount(file.c_str());
  EXPECT_THAT(std::string(cleared.status().message()), HasSubstr("is a mount point: mount its folder"));
  ASSERT_TRUE(deleted.ok()) << deleted.status().message();
  EXPECT_EQ(deleted->entries, 1u);
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

TEST(CacheRemoval, ASessionWhoseFileIsReplacedBySomethingUnusableGoesOnAndSaysSo) {
  const CacheFolder folder;
  const auto store = folder.Open();
  PutOne(*store, NumberedKey(1), NumberedBlob(1, 1000));
  fs::rename(folder.file(), folder.path() / "elsewhere");
  fs::create_directory(folder.file());
  for (int number = 2; number < 4; ++number) PutOne(*store, NumberedKey(number), NumberedBlob(number, 1000));
  EXPECT_EQ(store->counters().put_errors, 2u);
  EXPECT_FALSE(store->Get(NumberedKey(1)));
  EXPECT_THAT(store->TakeWarnings(), ::testing::ElementsAre(::testing::HasSubstr("was replaced during this run")));
}

// What happens to the files of a folder, in its order.
class FolderEvents {
 public:
  explicit FolderEvents(const fs::path& folder) : descriptor_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
    ::inotify_add_watch(descriptor_.get(), folder.c_str(), IN_DELETE | IN_CLOSE_WRITE | IN_MOVED_FROM | IN_MOVED_TO);
  }
  void Await() const {
    pollfd event{descriptor_.get(), POLLIN, 0};
    ::poll(&event, 1, -1);
  }
  // Each as "deleted NAME", "closed NAME", "moved from NAME" or "moved to NAME".
  std::vector<std::string> Take() {
    std::vector<std::string> events;
    alignas(inotify_event) std::array<char, 1 << 16> room;
    const ssize_t count = ::read(descriptor_.get(), room.data(), room.size());
    for (ssize_t at = 0; at < count;) {
      const auto* event = reinterpret_cast<const inotify_event*>(room.data() + at);
      const char* what = (event->mask & IN_DELETE) != 0        ? "deleted "
                         : (event->mask & IN_CLOSE_WRITE) != 0 ? "closed "
                         : (event->mask & IN_MOVED_FROM) != 0  ? "moved from "
                                                               : "moved to ";
      events.push_back(std::string(what) + event->name);
      at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
    }
    return events;
  }

 private:
  Descriptor descriptor_;
};

// The disk takes most of a second for each gigabyte, and who opens the store waits 250 ms.
TEST(CacheRemoval, TheClearedFileGoesOnceNobodyIsKeptWaiting) {
  const CacheFolder folder;
  PutOne(*folder.Open(), NumberedKey(1), NumberedBlob(1, 1000));
  FolderEvents watched(folder.path());
  ASSERT_TRUE(ClearStore(folder.path()).ok());
  const std::vector<std::string> events = watched.Take();
  const auto place_of = [&](const char* event) { return std::ranges::find(events, event) - events.begin(); };
  EXPECT_THAT(events, ::testing::IsSupersetOf({"moved from hearth.db", "moved to hearth.db", "closed hearth.lock",
                                               "deleted hearth.db.cleared"}));
  EXPECT_LT(place_of("moved to hearth.db"), place_of("deleted hearth.db.cleared"));
  EXPECT_EQ(std::ranges::find(events, "closed hearth.lock"),
            std::find(events.begin(), std::ranges::find(events, "deleted hearth.db.cleared"), "closed hearth.lock"));
  EXPECT_THAT(events, ::testing::Not(::testing::Contains("deleted hearth.db")));
}

TEST(CacheRemoval, WhatAClearingThatWasKilledLeftGoesWithTheNextSessionThatStores) {
  const CacheFolder folder;
  folder.Open().reset();
  testing::WriteFile(folder.path() / "hearth.db.cleared", "large");
  PutOne(*folder.Open(), NumberedKey(1), NumberedBlob(1, 1000));
  EXPECT_FALSE(fs::exists(folder.path() / "hearth.db.cleared"));
}

// Which takes its time on a disk, so the end is waited for here as long as it takes.
TEST(CacheRemoval, LargeFilesAreRemovedByAProcessThatNobodyHasToWaitFor) {
  const CacheFolder folder;
  const fs::path large = folder.path() / "large", small = folder.path() / "small";
  testing::WriteFile(large, "");
  testing::WriteFile(small, "x");
  fs::resize_file(large, uint64_t{1} << 30);
  FolderEvents watched(folder.path());
  const pid_t child = testing::StartProcess([&] {
    RemoveInBackground({large, folder.path() / "none", small});
    return ::waitpid(-1, nullptr, 0) == -1 && errno == ECHILD ? 0 : 1;
  });
  EXPECT_EQ(testing::WaitFor(child), 0) << "it has a child to wait for";
  std::vector<std::string> events = watched.Take();
  while (events.size() < 2) {
    watched.Await();
    std::ranges::copy(watched.Take(), std::back_inserter(events));
  }
  EXPECT_THAT(events, ::testing::ElementsAre("deleted large", "deleted small"));
}

TEST(CacheRemoval, EntriesFromTheFutureArePrunedByAgeToo) {
  const CacheFolder folder;
  PutOne(*folder.Open(), NumberedKey(1), NumberedBlob(1, 1000));
  constexpr int64_t kDayMs = int64_t{24} * 60 * 60 * 1000;
  {
    auto database = Database::Open(folder.file(), Database::Access::kReadWrite);
    const std::string stamps = fmt::format("UPDATE entries SET created_ms=created_ms-{}, last_used_ms=last_used_ms+{}",
                                           60 * kDayMs, 365 * kDayMs);
    ASSERT_TRUE(database.ok() && database->Run(stamps).ok());
  }
  CacheFilter old{.unused_since_ms = NowMs() - 30 * kDayMs};
  EXPECT_EQ(ClearStore(folder.path(), old)->entries, 1u);
}

// As a crash of the machine leaves them: space behind the last page, and what a `clear` had not yet removed.
TEST(CacheRemoval, PruneGivesBackWhatLiesBehindTheLastPageAndBesideTheStore) {
  constexpr uintmax_t kLongBytes = uintmax_t{256} << 20;
  const CacheFolder folder;
  PutOne(*folder.Open(), NumberedKey(1), NumberedBlob(1, 1000));
  fs::resize_file(folder.file(), kLongBytes);
  const fs::path cleared = folder.file().string() + ".cleared";
  testing::WriteFile(cleared, "half removed");
  ASSERT_TRUE(PruneStore(folder.path(), kLongBytes / 2).ok());
  EXPECT_LT(fs::file_size(folder.file()), uintmax_t{1} << 20);
  EXPECT_FALSE(fs::exists(cleared));
  EXPECT_TRUE(folder.Open()->Get(NumberedKey(1)));
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

// What a process that stores tells the one that prunes, and the other way round.
struct Meanwhile {
  std::atomic<bool> has_begun = false;
  std::atomic<bool> is_pruned = false;
  std::atomic<int> stored = 0;  // before the end of the pruning
};

// Prunes a store to half while a session stores, and looks at its log.
void PruneALargeStore(const std::function<Status(const CacheFolder& folder, uint64_t max_bytes)>& prune) {
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
  void* page = ::mmap(nullptr, sizeof(Meanwhile), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  auto* meanwhile = new (page) Meanwhile;
  const pid_t writer = testing::StartProcess([&] {
    const auto store = folder.Open();  // which waits as long as it has to: what is asked is whether it gets its turns
    meanwhile->has_begun = store == nullptr;
    if (store == nullptr) return 1;
    for (int number = 0; number < 50; ++number) {
      PutOne(*store, NumberedKey(1000 + number), NumberedBlob(number, 5000));
      meanwhile->has_begun = true;
      if (!meanwhile->is_pruned) ++meanwhile->stored;
    }
    return store->counters().put_errors == 0 ? 0 : 2;
  });
  while (!meanwhile->has_begun) std::this_thread::yield();
  const Status status = prune(folder, before / 2);
  meanwhile->is_pruned = true;
  is_done = true;
  watcher.join();
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(testing::WaitFor(writer), 0);
  EXPECT_GT(meanwhile->stored, 2) << "it waited for the end of the pruning";
  ::munmap(page, sizeof(Meanwhile));
  EXPECT_LE(fs::file_size(folder.file()), before / 2 + (1 << 20));
  EXPECT_LT(largest_log, uint64_t{64} << 20);
  const auto store = folder.Open();
  for (int number = 0; number < 50; ++number) EXPECT_TRUE(store->Get(NumberedKey(1000 + number))) << number;
}

TEST(CacheRemoval, PruningALargeStoreKeepsItsLogSmallAndLetsWritersThrough) {
  PruneALargeStore([](const CacheFolder& folder, uint64_t max_bytes) {
    const FileIdentity before = IdentityOf(folder.file());
    const Status status = PruneStore(folder.path(), max_bytes).status();
    EXPECT_NE(IdentityOf(folder.file()), before) << "it was not rewritten";
    return status;
  });
}

TEST(CacheRemoval, MovingThePagesOfALargeStoreKeepsItsLogSmallAndLetsWritersThrough) {
  PruneALargeStore([](const CacheFolder& folder, uint64_t max_bytes) -> Status {
    HEARTH_ASSIGN(Database database, Database::Open(folder.file(), Database::Access::kReadWrite));
    HEARTH_TRY(DeleteDownTo(database, max_bytes));
    return ShrinkInPlace(database);
  });
}

// Bytes that this process has read by now.
int64_t BytesRead() {
  std::ifstream counts("/proc/self/io");
  std::string name;
  int64_t bytes = 0;
  counts >> name >> bytes;  // rchar
  return bytes;
}

TEST(CacheRemoval, ReadingAheadReadsTheWholePart) {
  const CacheFolder folder;
  PutOne(*folder.Open(), NumberedKey(1), NumberedBlob(1, 1'000'000));
  auto database = Database::Open(folder.file(), Database::Access::kReadWrite);
  ASSERT_TRUE(database.ok() && database->Number("SELECT count(*) FROM entries").ok());
  const int64_t before = BytesRead();
  ASSERT_GT(before, 0);
  database->ReadAhead(100'000, 800'000);
  EXPECT_GE(BytesRead() - before, 800'000);
}

// Closing any descriptor of the file would end all locks that this process has on it.
TEST(CacheRemoval, ReadingAheadEndsWithTheFileAndKeepsItsLocks) {
  const CacheFolder folder;
  PutOne(*folder.Open(), NumberedKey(1), NumberedBlob(1, 100'000));
  auto database = Database::Open(folder.file(), Database::Access::kReadWrite);
  ASSERT_TRUE(database.ok() && database->Number("SELECT count(*) FROM entries").ok());
  for (const int64_t at : {int64_t{0}, int64_t{16384}, int64_t{1} << 40}) database->ReadAhead(at, int64_t{4} << 20);
  database->ReadAhead(0, 0);
  const pid_t child = StartProcess([&] {
    const Descriptor file(::open(folder.file().c_str(), O_RDWR | O_CLOEXEC));
    struct flock lock = {};
    lock.l_type = F_WRLCK;
    if (::fcntl(file.get(), F_GETLK, &lock) != 0) return 2;
    return lock.l_type == F_UNLCK ? 1 : 0;
  });
  EXPECT_EQ(WaitFor(child), 0);
  EXPECT_TRUE(database->CheckStructure().ok());
}

}  // namespace
}  // namespace hearth
