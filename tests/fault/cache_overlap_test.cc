// Commands that change a store while another process gives its name to another file, and commands that are killed and
// repeated.
#include <gmock/gmock.h>

#include <algorithm>
#include <random>

#include "cache/desk/reports.h"
#include "cache/files/store_names.h"
#include "cache/store/models.h"
#include "cache/store/store_connection.h"
#include "cache/store/store_file.h"
#include "tests/testing/cache_folder.h"
#include "tests/testing/stopped_process.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;
using testing::CacheFolder;
using testing::NumberedBlob;
using testing::NumberedKey;
using testing::PutOne;
using testing::StoppedProcess;

constexpr int kOverlapEntries = 20;
constexpr size_t kOverlapBlobBytes = 30'000;
constexpr const char* kOverlapModel = "/models/a.tflite";

void PutEntriesOfAModel(const CacheFolder& folder) {
  auto options = folder.options();
  options.model = {"0123456789abcdef", kOverlapModel};
  const auto store = CacheFolder::Open(options);
  for (int number = 0; number < kOverlapEntries; ++number)
    PutOne(*store, NumberedKey(number), NumberedBlob(number, kOverlapBlobBytes));
}

// Gives the store's name to a copy, as prune does, if nobody holds the locks for that.
bool ReplaceIfUnlocked(const CacheFolder& folder) {
  WaitBudget none(0);
  const auto lock = FolderLock::Take(folder.path(), FolderLock::Mode::kExclusive, none);
  if (!lock.ok()) return false;
  const fs::path copy = folder.path() / "copy";
  {
    auto database = Database::Open(folder.file(), Database::Access::kReadWrite);
    if (!database.ok() || !EmptyLog(*database, 0)) return false;
    const auto nobody_commits = Transaction::Begin(*database);
    if (!nobody_commits.ok() || LogBytes(*database) > 0) return false;
    fs::copy_file(folder.file(), copy);
    fs::rename(copy, folder.file());
  }
  RemoveSideFiles(folder.file());
  return true;
}

// Runs `change` in a process that is stopped at one system call after another while the store is replaced.
void ExpectToSucceedWhileTheStoreIsReplaced(const std::function<bool(const fs::path&)>& change) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::minstd_rand random(seed);
  int replaced = 0;
  bool is_stopped = true;
  for (int number = 1; is_stopped; number += 1 + static_cast<int>(random() % 32)) {
    const CacheFolder folder;
    PutEntriesOfAModel(folder);
    StoppedProcess process(number, [&] { return change(folder.path()) ? 0 : 1; });
    is_stopped = process.is_stopped();
    replaced += is_stopped && ReplaceIfUnlocked(folder) ? 1 : 0;
    ASSERT_EQ(process.End(), 0) << "replaced before call " << number;
    ASSERT_TRUE(VerifyStore(folder.path(), false)->clean()) << "replaced before call " << number;
  }
  EXPECT_GT(replaced, 0);
}

TEST(CacheOverlap, PruneSucceedsWhileTheStoreIsReplaced) {
  constexpr uint64_t kKeptBytes = uint64_t{400} << 10;
  ExpectToSucceedWhileTheStoreIsReplaced([&](const fs::path& folder) {
    return PruneStore(folder, kKeptBytes).ok() && ReadStoreStats(folder)->blob_bytes <= kKeptBytes;
  });
}

TEST(CacheOverlap, ClearingAPartSucceedsWhileTheStoreIsReplaced) {
  ExpectToSucceedWhileTheStoreIsReplaced([](const fs::path& folder) {
    const auto removed = ClearStore(folder, {.kind = "program"});
    return removed.ok() && removed->entries == kOverlapEntries && ListEntries(folder)->empty();
  });
}

TEST(CacheOverlap, AModelIsRemovedWhileTheStoreIsReplaced) {
  ExpectToSucceedWhileTheStoreIsReplaced([](const fs::path& folder) {
    const auto removed = RemoveModel(folder, kOverlapModel);
    return removed.ok() && removed->entries == kOverlapEntries && ListEntries(folder)->empty();
  });
}

TEST(CacheOverlap, AModelIsPinnedWhileTheStoreIsReplaced) {
  ExpectToSucceedWhileTheStoreIsReplaced([](const fs::path& folder) {
    return SetPinned(folder, kOverlapModel, true).ok() && DescribeModel(folder, kOverlapModel)->is_pinned;
  });
}

TEST(CacheOverlap, ALockedStoreIsSaidToBeSo) {
  const CacheFolder folder;
  PutEntriesOfAModel(folder);
  auto one = Database::Open(folder.file(), Database::Access::kReadWrite);
  auto other = Database::Open(folder.file(), Database::Access::kReadWrite);
  ASSERT_TRUE(one.ok() && other.ok());
  const auto writes = Transaction::Begin(*one);
  const Status status = Transaction::Begin(*other).status();
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_THAT(status.message(), ::testing::HasSubstr("try again when that has finished"));
}

TEST(CacheOverlap, ARepairMovesAsideOnlyTheFileThatItChecked) {
  const CacheFolder folder, sound;
  PutEntriesOfAModel(sound);
  ASSERT_TRUE(ReplaceIfUnlocked(sound)) << "has no log";
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::minstd_rand random(seed);
  bool is_stopped = true;
  for (int number = 1; is_stopped; number += 1 + static_cast<int>(random() % 4)) {
    RemoveWithSideFiles(folder.file());
    testing::WriteFile(folder.file(), std::string(100'000, 'x'));
    StoppedProcess process(number, [&] { return VerifyStore(folder.path(), true).ok() ? 0 : 1; });
    is_stopped = process.is_stopped();
    if (!is_stopped) break;
    WaitBudget none(0);
    if (const auto lock = FolderLock::Take(folder.path(), FolderLock::Mode::kExclusive, none); !lock.ok()) continue;
    fs::copy_file(sound.file(), folder.path() / "copy");
    fs::rename(folder.path() / "copy", folder.file());
    const FileIdentity replacement = IdentityOf(folder.file());
    ASSERT_EQ(process.End(), 0) << "replaced before call " << number;
    ASSERT_EQ(IdentityOf(folder.file()), replacement) << "replaced before call " << number;
  }
}

TEST(CacheOverlap, ARemovalOfAModelThatWasKilledCanBeRepeated) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::minstd_rand random(seed);
  bool is_killed = true;
  for (int number = 1; is_killed; number += 1 + static_cast<int>(random() % 32)) {
    const CacheFolder folder;
    PutEntriesOfAModel(folder);
    is_killed =
        StoppedProcess(number, [&] { return RemoveModel(folder.path(), kOverlapModel).ok() ? 0 : 1; }).is_stopped();
    const Status again = RemoveModel(folder.path(), kOverlapModel).status();
    ASSERT_TRUE(again.ok() || again.code() == StatusCode::kNotFound) << again.message();
    ASSERT_TRUE(ListEntries(folder.path())->empty()) << "killed before call " << number;
  }
}

TEST(CacheOverlap, ALargeUnfinishedCopyIsRemovedByPruneAndClearAndNotByASession) {
  const CacheFolder folder;
  const fs::path large = folder.path() / "unfinished-aaaaaa", small = folder.path() / "unfinished-bbbbbb";
  const auto make_both = [&] {
    for (const fs::path& file : {large, small}) testing::WriteFile(file, "x");
    fs::resize_file(large, (uint64_t{64} << 20) + 1);  // takes no space
  };
  make_both();
  PutEntriesOfAModel(folder);
  EXPECT_TRUE(fs::exists(large));
  EXPECT_FALSE(fs::exists(small));
  ASSERT_TRUE(PruneStore(folder.path(), uint64_t{1} << 30).ok());
  EXPECT_FALSE(fs::exists(large));
  make_both();
  ASSERT_TRUE(ClearStore(folder.path()).ok());
  EXPECT_FALSE(fs::exists(large) || fs::exists(small));
}

}  // namespace
}  // namespace hearth
