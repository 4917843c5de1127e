// One process that stands still, lock in hand, must not hold the others up for longer than their budget.
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <functional>
#include <thread>

#include "cache/desk/reports.h"
#include "cache/files/database.h"
#include "cache/files/locked_file.h"
#include "core/base/error.h"
#include "tests/testing/cache_folder.h"

namespace hearth {
namespace {

using testing::CacheFolder;
using testing::NumberedBlob;
using testing::NumberedKey;
using testing::PutOne;

constexpr int kBudgetMs = 40;
// The last sleep may end so late on a busy machine. Without the budget each of these waits would take longer.
constexpr double kSlackMs = 2000;
constexpr int kPuts = 200;  // with 40 ms each they would wait for 8 s

// Options with a budget of their own.
struct BoundedOptions {
  explicit BoundedOptions(const CacheFolder& folder) : options(folder.options()) { options.waits = &waits; }
  SessionWaits waits{kBudgetMs};
  StoreOptions options;
};

// So what a session waits beyond its budget is what one sleep ends late, whatever keeps the process from running.
TEST(CacheWaits, OnlyOneSleepEndsBeyondTheBudgetAndNothingBetweenSleepsIsCounted) {
  WaitBudget waits(5);
  using Milliseconds = std::chrono::duration<double, std::milli>;
  double asleep_ms = 0, last_ms = 0;
  int beyond = 0;
  for (bool has_slept = true; has_slept;) {
    const auto begin = std::chrono::steady_clock::now();
    has_slept = waits.Sleep(1);
    const auto end = std::chrono::steady_clock::now();
    if (!has_slept) continue;
    last_ms = Milliseconds(end - begin).count();
    asleep_ms += last_ms;
    beyond += waits.left_ms() <= 0;
    while (Milliseconds(std::chrono::steady_clock::now() - end).count() < 1) {  // busy with something else
    }
  }
  EXPECT_EQ(beyond, 1);
  EXPECT_LE(waits.waited_ms(), asleep_ms);
  EXPECT_LE(waits.waited_ms(), waits.total_ms() + last_ms);
}

TEST(CacheWaits, AStartBesideAHeldFolderLockGoesOnWithoutACacheWithinItsBudget) {
  const CacheFolder folder;
  folder.Open().reset();
  WaitBudget ample(1000);
  const auto lock = FolderLock::Take(folder.path(), FolderLock::Mode::kExclusive, ample);
  ASSERT_TRUE(lock.ok());
  BoundedOptions bounded(folder);
  EXPECT_FALSE(testing::StoreCache::Open(bounded.options).ok());
  EXPECT_GE(bounded.waits.others.waited_ms(), kBudgetMs);
  EXPECT_LE(bounded.waits.others.waited_ms(), kBudgetMs + kSlackMs);
}

TEST(CacheWaits, ManyPutsBesideAHeldWriteLockShareOneBudget) {
  const CacheFolder folder;
  BoundedOptions bounded(folder);
  const auto store = CacheFolder::Open(bounded.options);
  auto other = Database::Open(folder.file(), Database::Access::kReadWrite);
  ASSERT_TRUE(other.ok() && other->Run("BEGIN IMMEDIATE").ok());
  for (int number = 0; number < kPuts; ++number) PutOne(*store, NumberedKey(number), NumberedBlob(number, 1000));
  store->Reject(NumberedKey(0), "test");
  store->Flush();
  EXPECT_LE(bounded.waits.others.waited_ms(), kBudgetMs + kSlackMs);
  EXPECT_EQ(store->counters().put_errors, 0u) << "it is kept for the next chance";
  ASSERT_TRUE(other->Run("COMMIT").ok());
  store->Flush();
  const auto next = folder.Open();
  for (int number = 1; number < kPuts; ++number) EXPECT_TRUE(next->Get(NumberedKey(number))) << number;
}

// Nobody waits for an answer any more, and making the entries again would take longer.
TEST(CacheWaits, AtItsEndASessionWaitsAsLongAsItsEntriesCost) {
  for (const double cost_ms : {0.0, 200.0}) {
    const CacheFolder folder;
    folder.Open().reset();
    auto other = Database::Open(folder.file(), Database::Access::kReadWrite);
    ASSERT_TRUE(other.ok() && other->Run("BEGIN IMMEDIATE").ok());
    std::thread committer;
    {
      BoundedOptions bounded(folder);
      const auto store = CacheFolder::Open(bounded.options);
      for (int number = 0; number < 20; ++number)
        PutOne(*store, NumberedKey(number), NumberedBlob(number, 1000), cost_ms);
      EXPECT_LE(bounded.waits.others.left_ms(), 0) << "what a session waits anyway is used up";
      if (cost_ms > 0) {
        committer = std::thread([&] {
          std::this_thread::sleep_for(std::chrono::milliseconds(20));
          EXPECT_TRUE(other->Run("COMMIT").ok());
        });
      }
    }
    if (committer.joinable()) committer.join();
    if (cost_ms == 0) {
      EXPECT_TRUE(other->Run("COMMIT").ok());
    }
    const auto next = folder.Open();
    for (int number = 0; number < 20; ++number)
      EXPECT_EQ(next->Get(NumberedKey(number)).has_value(), cost_ms > 0) << number;
  }
}

TEST(CacheWaits, WhatALivingProcessIsStillWritingStays) {
  const CacheFolder folder;
  folder.Open().reset();
  const auto [unfinished, descriptor] = MakeLockedFile(folder.path(), kUnfinishedPrefix);
  ASSERT_TRUE(descriptor.is_open());
  testing::WriteFile(unfinished, "half a record");
  folder.Open().reset();
  EXPECT_TRUE(std::filesystem::exists(unfinished)) << "the next session removed it";
  ASSERT_TRUE(ClearStore(folder.path()).ok());
  EXPECT_TRUE(std::filesystem::exists(unfinished)) << "clearing removed it";
}

// Whoever is killed before the first byte leaves an empty file.
TEST(CacheWaits, AnEmptyFileOfADeadWriterIsRemovedByASessionAPruneAndAClearing) {
  const CacheFolder folder;
  folder.Open().reset();
  const std::function<void()> acts[] = {
      [&] { folder.Open().reset(); },
      [&] { EXPECT_TRUE(PruneStore(folder.path(), uint64_t{1} << 30).ok()); },
      [&] { EXPECT_TRUE(ClearStore(folder.path()).ok()); },
  };
  for (const auto& act : acts) {
    const LockedFile living = MakeLockedFile(folder.path(), kUnfinishedPrefix);
    const std::filesystem::path dead =
        MakeLockedFile(folder.path(), kUnfinishedPrefix).path;  // its lock ends with the line
    ASSERT_TRUE(living.descriptor.is_open() && std::filesystem::exists(dead));
    act();
    EXPECT_FALSE(std::filesystem::exists(dead));
    EXPECT_TRUE(std::filesystem::exists(living.path)) << "its writer lives";
    std::filesystem::remove(living.path);
  }
}

TEST(CacheWaits, ANewFileIsNotTakenFromItsWriterBeforeItHasLockedIt) {
  const CacheFolder folder;
  std::vector<pid_t> children;
  for (int child = 0; child < 3; ++child) {
    children.push_back(testing::StartProcess([&] {
      while (!std::filesystem::exists(folder.path() / "end")) RemoveUnfinished(folder.path());
      return 0;
    }));
  }
  constexpr int kFiles = 2000;
  int lost = 0;
  for (int number = 0; number < kFiles; ++number) {
    const LockedFile made = MakeLockedFile(folder.path(), kUnfinishedPrefix);
    // Not made at all is allowed: each of its tries may meet one who looks at the file.
    if (made.descriptor.is_open() && ::unlink(made.path.c_str()) != 0) ++lost;
  }
  testing::WriteFile(folder.path() / "end", "");
  for (const pid_t child : children) EXPECT_EQ(testing::WaitFor(child), 0);
  EXPECT_EQ(lost, 0);
}

// The log's own locks: sqlite retries some of them for 10 s, whatever its time-out.
TEST(CacheWaits, AReaderBesideAHeldRecoveryLockOfTheLogIsBoundedToo) {
  const CacheFolder folder;
  PutOne(*folder.Open(), NumberedKey(1), NumberedBlob(1, 1000));
  const std::string index = folder.file().string() + "-shm";
  const pid_t child = testing::StartProcess([&] {
    const auto store = testing::StoreCache::Open(folder.options());  // so that the index is there
    const int descriptor = ::open(index.c_str(), O_RDWR);
    // All of the index's lock bytes (120 to 127), as during a recovery, and a header that is being written.
    struct flock held = {};
    held.l_type = F_WRLCK;
    held.l_whence = SEEK_SET;
    held.l_start = 120;
    held.l_len = 8;
    if (!store.ok() || ::fcntl(descriptor, F_SETLK, &held) != 0) return 1;
    const std::string spoilt(96, 'x');
    if (::pwrite(descriptor, spoilt.data(), spoilt.size(), 0) != 96) return 2;
    ::raise(SIGSTOP);
    return 0;
  });
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, WUNTRACED), child);
  ASSERT_TRUE(WIFSTOPPED(status)) << WEXITSTATUS(status);
  BoundedOptions bounded(folder);
  EXPECT_FALSE(testing::StoreCache::Open(bounded.options).ok());
  EXPECT_LE(bounded.waits.others.waited_ms(), kBudgetMs + kSlackMs);
  ::kill(child, SIGKILL);
  EXPECT_EQ(testing::WaitFor(child), 128 + SIGKILL);
}

TEST(CacheWaits, WhatABatchPutsIsFoundAtOnceAndStoredInOneTransaction) {
  const CacheFolder folder;
  const auto store = folder.Open();
  auto watcher = Database::Open(folder.file(), Database::Access::kReadOnly);
  ASSERT_TRUE(watcher.ok());
  const int64_t version_before = *watcher->Number("PRAGMA data_version");
  {
    const PutBatch batch(store.get());
    for (int number = 0; number < 5; ++number) PutOne(*store, NumberedKey(number), NumberedBlob(number, 1000));
    EXPECT_EQ(store->Get(NumberedKey(3)), NumberedBlob(3, 1000));
    EXPECT_EQ(*watcher->Number("SELECT count(*) FROM entries"), 0);
    EXPECT_EQ(*watcher->Number("PRAGMA data_version"), version_before);
  }
  EXPECT_EQ(*watcher->Number("SELECT count(*) FROM entries"), 5);
  EXPECT_EQ(store->counters().bytes_written, 5000u);
}

TEST(CacheWaits, OfABatchThatDoesNotFitTheRestIsStored) {
  const CacheFolder folder;
  StoreOptions options = folder.options();
  options.max_bytes = 1 << 20;
  const auto store = CacheFolder::Open(options);
  {
    const PutBatch batch(store.get());
    PutOne(*store, NumberedKey(1), NumberedBlob(1, 3000));
    PutOne(*store, NumberedKey(2), NumberedBlob(2, 2000000));
    PutOne(*store, NumberedKey(3), NumberedBlob(3, 3000));
  }
  EXPECT_EQ(store->counters().put_errors, 1u);
  EXPECT_EQ(store->TakeWarnings().size(), 1u);
  EXPECT_TRUE(folder.Open()->Get(NumberedKey(1)));
  EXPECT_TRUE(folder.Open()->Get(NumberedKey(3)));
}

TEST(CacheWaits, AClaimIsGivenBackOnlyWhenItsEntryIsStored) {
  const CacheFolder folder;
  const auto store = folder.Open(), other = folder.Open();
  const auto has_claim = [&] {
    return std::filesystem::exists(folder.path() / ("making-" + NumberedKey(1).digest().ToHex()));
  };
  {
    MakingTurn turn = store->TakeTurn(NumberedKey(1));
    const PutBatch batch(store.get());
    PutOne(*store, NumberedKey(1), NumberedBlob(1, 1000));
    store->ReleaseWhenStored(std::move(turn.claim));
    EXPECT_TRUE(has_claim());
  }
  EXPECT_FALSE(has_claim());
  EXPECT_TRUE(other->Get(NumberedKey(1)));
}

TEST(ServerWaits, GrowWithABudgetOverTheDefaultOnly) {
  for (const double total_ms : {0.0, 100.0, 250.0}) {
    EXPECT_EQ(ServerWaitsOf(total_ms).connect_ms, 25) << total_ms;
    EXPECT_EQ(ServerWaitsOf(total_ms).command_ms, 25) << total_ms;
    EXPECT_EQ(ServerWaitsOf(total_ms).lost_ms, 50) << total_ms;
  }
  const ServerWaits patient = ServerWaitsOf(10'000);
  EXPECT_EQ(patient.connect_ms, 1000);
  EXPECT_EQ(patient.command_ms, 1000);
  EXPECT_EQ(patient.lost_ms, 2000);
}

}  // namespace
}  // namespace hearth
