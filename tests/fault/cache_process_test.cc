// Several processes, processes that die, and an operating system that says no.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>

#include <array>
#include <csignal>
#include <random>

#include "cache/desk/reports.h"
#include "cache/files/database.h"
#include "tests/testing/cache_crash.h"
#include "tests/testing/carried_bundle.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;
using testing::Bar;
using testing::CacheFolder;
using testing::DieUsing;
using testing::NumberedBlob;
using testing::NumberedKey;
using testing::PutOne;
using testing::StartProcess;
using testing::WaitFor;

// A pipe whose one byte tells the parent that the child got so far.
class Signal {
 public:
  Signal() { made_ = ::pipe(ends_.data()) == 0; }
  ~Signal() {
    for (int end : ends_) ::close(end);
  }
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;
  void Send() const { sent_ = ::write(ends_[1], "x", 1); }
  bool Await() const {
    char byte;
    return made_ && ::read(ends_[0], &byte, 1) == 1;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
  bool made_ = false;
  mutable ssize_t sent_ = 0;
};

TEST(CacheProcesses, TwoWritersAtOnceLoseNothing) {
  const CacheFolder folder;
  std::vector<pid_t> children;
  for (int writer = 0; writer < 2; ++writer) {
    children.push_back(StartProcess([&folder, writer] {
      const auto store = testing::StoreCache::Open(folder.options());
      if (!store.ok()) return 1;
      for (int i = 0; i < 200; ++i)
        PutOne(**store, NumberedKey(writer * 200 + i), NumberedBlob(writer * 200 + i, 1000));
      return (*store)->counters().put_errors == 0 ? 0 : 2;
    }));
  }
  for (pid_t child : children) EXPECT_EQ(WaitFor(child), 0);
  const auto store = folder.Open();
  for (int number = 0; number < 400; ++number) {
    const auto found = store->Get(NumberedKey(number));
    ASSERT_TRUE(found && *found == NumberedBlob(number, 1000)) << number;
  }
}

TEST(CacheProcesses, ManyFirstStartsAtOnceAgreeOnOneStore) {
  const CacheFolder folder;
  std::vector<pid_t> children;
  for (int number = 0; number < 8; ++number) {
    children.push_back(StartProcess([&folder, number] {
      const auto store = testing::StoreCache::Open(folder.options());
      if (!store.ok()) return 1;
      PutOne(**store, NumberedKey(number), NumberedBlob(number, 20000));
      return (*store)->TakeWarnings().empty() ? 0 : 2;
    }));
  }
  for (pid_t child : children) EXPECT_EQ(WaitFor(child), 0);
  EXPECT_EQ(ReadStoreStats(folder.path())->entries, 8u);
  EXPECT_TRUE(VerifyStore(folder.path(), false)->clean());
}

TEST(CacheProcesses, AWriterKilledAtAnyTimeLeavesASoundStore) {
  const CacheFolder folder;
  const unsigned seed = std::random_device{}();
  std::mt19937 random(seed);
  for (int round = 0; round < 10; ++round) {
    const Signal started;
    const pid_t child = StartProcess([&] {
      started.Send();  // killed from here on: while it opens, heals, writes
      const auto store = testing::StoreCache::Open(folder.options());
      if (!store.ok()) return 1;
      for (int number = 0;; ++number) PutOne(**store, NumberedKey(number % 50), NumberedBlob(number % 50, 50000));
    });
    ASSERT_TRUE(started.Await());
    ::usleep(std::uniform_int_distribution<unsigned>(0, 60000)(random));
    ::kill(child, SIGKILL);
    EXPECT_EQ(WaitFor(child), 128 + SIGKILL);
    const auto report = VerifyStore(folder.path(), false);
    ASSERT_TRUE(report.ok()) << report.status().message();
    ASSERT_TRUE(report->clean()) << "round " << round << ", seed " << seed << ": " << report->damages[0].what;
    const auto store = folder.Open();
    EXPECT_TRUE(store->TakeWarnings().empty());
  }
}

TEST(CacheQuarantine, ABlobThatWasInUseAtTheCrashIsAMissAndTheOthersAreNot) {
  const CacheFolder folder;
  PutOne(*folder.Open(), NumberedKey(1), NumberedBlob(1, 100));
  PutOne(*folder.Open(), NumberedKey(2), NumberedBlob(2, 100));
  DieUsing(folder.options(), NumberedKey(1));
  {
    const auto store = folder.Open();
    EXPECT_FALSE(store->Get(NumberedKey(1)).has_value());
    EXPECT_TRUE(store->Get(NumberedKey(2)).has_value());
    EXPECT_EQ(store->TakeWarnings().size(), 1u);
    EXPECT_EQ(ReadStoreStats(folder.path())->quarantined, 1u);
    PutOne(*store, NumberedKey(1), NumberedBlob(3, 100));  // rebuilt
  }
  const auto store = folder.Open();
  EXPECT_TRUE(store->Get(NumberedKey(1)).has_value());
  EXPECT_TRUE(store->TakeWarnings().empty());
}

TEST(CacheQuarantine, TheSameBytesStayOutAfterThreeCrashes) {
  const CacheFolder folder;
  const auto bytes = NumberedBlob(1, 100);
  for (int crash = 0; crash < 3; ++crash) {
    PutOne(*folder.Open(), NumberedKey(1), bytes);
    DieUsing(folder.options(), NumberedKey(1));
  }
  PutOne(*folder.Open(), NumberedKey(1), bytes);
  EXPECT_FALSE(folder.Open()->Get(NumberedKey(1)).has_value());
  PutOne(*folder.Open(), NumberedKey(1), NumberedBlob(2, 100));
  EXPECT_TRUE(folder.Open()->Get(NumberedKey(1)).has_value()) << "other bytes deserve a chance";
}

TEST(CacheQuarantine, WhatStaysOutIsToldAtEachStartWithTheCommandThatLiftsIt) {
  const CacheFolder folder;
  Bar(folder, NumberedKey(1), NumberedBlob(1, 100));
  for (int start = 0; start < 2; ++start) {
    const auto store = folder.Open();
    EXPECT_FALSE(store->Get(NumberedKey(1)));
    PutOne(*store, NumberedKey(1), NumberedBlob(1, 100));
    const auto warnings = store->TakeWarnings();
    ASSERT_EQ(warnings.size(), 1u) << start;
    EXPECT_NE(warnings[0].find("hearth cache clear --quarantine"), std::string::npos) << warnings[0];
  }
  const auto records = ListQuarantine(folder.path());
  ASSERT_TRUE(records.ok() && records->size() == 1);
  EXPECT_EQ((*records)[0].digest, NumberedKey(1).digest().ToHex());
  EXPECT_TRUE((*records)[0].is_barred);
}

TEST(CacheQuarantine, ClearingTheKindOrTheQuarantineLiftsIt) {
  for (const bool by_kind : {true, false}) {
    const CacheFolder folder;
    const auto bytes = NumberedBlob(1, 100);
    Bar(folder, NumberedKey(1), bytes);
    CacheFilter other{.kind = "weights"};
    ASSERT_TRUE(ClearStore(folder.path(), other).ok());
    EXPECT_EQ(ListQuarantine(folder.path())->size(), 1u) << "of another kind";
    other.kind = "program";
    if (by_kind) {
      ASSERT_TRUE(ClearStore(folder.path(), other).ok());
    } else {
      EXPECT_EQ(LiftQuarantine(folder.path()).value(), 1u);
    }
    PutOne(*folder.Open(), NumberedKey(1), bytes);
    EXPECT_TRUE(folder.Open()->Get(NumberedKey(1))) << by_kind;
  }
}

TEST(CacheQuarantine, AnImportCountsWhatItKeepsOutApart) {
  const testing::Carried carried;
  const auto exported = carried.Export();
  ASSERT_TRUE(exported.ok());
  Bar(carried.target, testing::NativeKey("conv", "1.0"), NumberedBlob(2, 2000));
  ImportRequest request = carried.Request();
  request.is_trusted = true;
  const auto imported = ImportBundle(request);
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  EXPECT_EQ(imported->entries, exported->entries - 1);
  EXPECT_EQ(imported->blob_bytes, exported->blob_bytes - 2000);
  EXPECT_EQ(imported->quarantined, 1u);
  EXPECT_EQ(imported->quarantined_until_ms, ListQuarantine(carried.target.path())->front().until_ms);
  EXPECT_EQ(ReadStoreStats(carried.target.path())->entries, imported->entries);
}

TEST(CacheProcesses, AnImportBesideAHeldWriteLockDoesNotSayThatItStored) {
  const testing::Carried carried;
  ASSERT_TRUE(carried.Export().ok());
  carried.target.Open().reset();
  auto other = Database::Open(carried.target.file(), Database::Access::kReadWrite);
  ASSERT_TRUE(other.ok() && other->Run("BEGIN IMMEDIATE").ok());
  ImportRequest request = carried.Request();
  request.is_trusted = true;
  const Status status = ImportBundle(request).status();
  EXPECT_EQ(status.code(), StatusCode::kUnavailable) << status.message();
  ASSERT_TRUE(other->Run("ROLLBACK").ok());
  EXPECT_TRUE(ImportBundle(request).ok());
}

TEST(CacheQuarantine, ItEndsAfterAWeek) {
  const CacheFolder folder;
  const auto bytes = NumberedBlob(1, 100);
  Bar(folder, NumberedKey(1), bytes);
  {
    auto database = Database::Open(folder.file(), Database::Access::kReadWrite);
    const std::string older = "UPDATE quarantine SET since_ms=since_ms-7*24*60*60*1000-1";
    ASSERT_TRUE(database.ok() && database->Run(older).ok());
  }
  const auto store = folder.Open();
  PutOne(*store, NumberedKey(1), bytes);
  EXPECT_TRUE(folder.Open()->Get(NumberedKey(1)));
  EXPECT_TRUE(store->TakeWarnings().empty());
  EXPECT_EQ(ReadStoreStats(folder.path())->quarantined, 0u);
}

TEST(CacheQuarantine, AUseThatEndsWellClearsTheRecord) {
  const CacheFolder folder;
  PutOne(*folder.Open(), NumberedKey(1), NumberedBlob(1, 100));
  DieUsing(folder.options(), NumberedKey(1));
  {
    const auto store = folder.Open();
    PutOne(*store, NumberedKey(1), NumberedBlob(1, 100));
    EXPECT_TRUE(store->Get(NumberedKey(1)).has_value());
    store->BeginUse(NumberedKey(1));
    store->EndUse(NumberedKey(1));
  }
  EXPECT_EQ(ReadStoreStats(folder.path())->quarantined, 0u);
}

// As in containers, whose processes have the same few numbers.
TEST(CacheQuarantine, CountsADeathThoughManyThatLiveHaveTheSameNumber) {
  const CacheFolder folder;
  PutOne(*folder.Open(), NumberedKey(1), NumberedBlob(1, 100));
  const pid_t child = StartProcess([&] {
    for (int k = 0; k < 64; ++k) {
      const fs::path file = folder.path() / fmt::format("in-use-{}-{}", ::getpid(), k);
      const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
      if (descriptor < 0 || ::flock(descriptor, LOCK_EX | LOCK_NB) != 0) return 1;
    }
    const auto store = testing::StoreCache::Open(folder.options());
    if (!store.ok()) return 2;
    (*store)->BeginUse(NumberedKey(1));
    ::raise(SIGKILL);
    return 3;
  });
  ASSERT_EQ(WaitFor(child), 128 + SIGKILL);
  EXPECT_FALSE(folder.Open()->Get(NumberedKey(1)).has_value());
}

TEST(CacheQuarantine, WhatALivingProcessUsesIsNotQuarantined) {
  const CacheFolder folder;
  const auto first = folder.Open();
  PutOne(*first, NumberedKey(1), NumberedBlob(1, 100));
  first->BeginUse(NumberedKey(1));
  EXPECT_TRUE(folder.Open()->Get(NumberedKey(1)).has_value());
}

TEST(CacheTrouble, AStoreLockedByAnotherIsAMissAndWhatIsPutIsStoredAtTheNextChance) {
  const CacheFolder folder;
  StoreOptions options = folder.options();
  options.allow_write_ahead_log = false;
  PutOne(*folder.Open(options), NumberedKey(1), NumberedBlob(1, 100));
  SessionWaits waits(1);
  options.waits = &waits;
  const auto store = folder.Open(options);
  auto other = Database::Open(folder.file(), Database::Access::kReadWrite);
  ASSERT_TRUE(other.ok() && other->Run("BEGIN EXCLUSIVE").ok());
  EXPECT_FALSE(store->Get(NumberedKey(1)).has_value());
  PutOne(*store, NumberedKey(2), NumberedBlob(2, 100));
  EXPECT_EQ(store->counters().misses, 1u);
  EXPECT_EQ(store->counters().put_errors, 0u);
  EXPECT_TRUE(store->Get(NumberedKey(2)).has_value()) << "it is in memory";
  EXPECT_EQ(store->TakeWarnings().size(), 2u) << "one for reading, one for writing";
  ASSERT_TRUE(other->Run("COMMIT").ok());
  EXPECT_TRUE(store->Get(NumberedKey(1)).has_value());
  store->Flush();
  EXPECT_TRUE(folder.Open(options)->Get(NumberedKey(2)).has_value());
}

TEST(CacheTrouble, ALimitOnTheSizeOfFilesIsAPutErrorEndsNoProgramAndWhatWasThereStays) {
  const CacheFolder folder;
  PutOne(*folder.Open(), NumberedKey(1), NumberedBlob(1, 1000));
  const pid_t child = StartProcess([&folder] {
    ::signal(SIGXFSZ, SIG_DFL);
    const rlimit limit = {200000, 200000};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
    const auto store = testing::StoreCache::Open(folder.options());
    if (!store.ok()) return 2;
    for (int number = 2; number < 5; ++number) PutOne(**store, NumberedKey(number), NumberedBlob(number, 1000000));
    if ((*store)->counters().put_errors != 3) return 3;
    const auto warnings = (*store)->TakeWarnings();
    if (warnings.size() != 1 || warnings[0].find("ulimit -f") == std::string::npos) return 4;
    return (*store)->Get(NumberedKey(1)) ? 0 : 5;
  });
  EXPECT_EQ(WaitFor(child), 0);
  EXPECT_TRUE(folder.Open()->Get(NumberedKey(1)).has_value());
  EXPECT_TRUE(VerifyStore(folder.path(), false)->clean());
}

TEST(CacheTrouble, ALimitOnTheSizeOfFilesSpoilsNothingThatIsToBePruned) {
  for (const rlim_t most_bytes : {0, 1, 65536, 200000, 280000}) {
    const CacheFolder folder;
    for (int number = 0; number < 6; ++number) PutOne(*folder.Open(), NumberedKey(number), NumberedBlob(number, 40000));
    const pid_t child = StartProcess([&] {
      ::signal(SIGXFSZ, SIG_DFL);
      const rlimit limit = {most_bytes, most_bytes};
      if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
      CacheFilter filter{.digest_prefix = NumberedKey(3).digest().ToHex()};
      for (const Status& status :
           {ClearStore(folder.path(), filter).status(), PruneStore(folder.path(), 290000).status()}) {
        if (!status.ok() && status.message().find("ulimit -f") == std::string::npos) return 2;
      }
      return 0;
    });
    EXPECT_EQ(WaitFor(child), 0) << most_bytes;
    const auto verified = VerifyStore(folder.path(), false);
    ASSERT_TRUE(verified.ok()) << verified.status().message();
    EXPECT_TRUE(verified->clean()) << most_bytes;
    EXPECT_GE(verified->checked_entries, 2u);
  }
}

// Runs `body` as a user whom permissions bind. Exit code 77: that user could not be had.
int WaitForUnprivileged(const CacheFolder& folder, const std::function<int()>& body) {
  constexpr uid_t kNobody = 65534;
  const bool is_root = ::geteuid() == 0;
  if (is_root) {
    for (const fs::path& path : {folder.path(), folder.file()}) {
      if (::chown(path.c_str(), kNobody, kNobody) != 0 && errno != ENOENT) return 77;
    }
  }
  return WaitFor(StartProcess([&] {
    if (is_root && !testing::BecomeUser(kNobody)) return 77;
    return body();
  }));
}

TEST(CacheTrouble, AFolderThatCannotBeWrittenIsStillRead) {
  const CacheFolder folder;
  PutOne(*folder.Open(), NumberedKey(1), NumberedBlob(1, 1000));
  ASSERT_EQ(::chmod(folder.file().c_str(), 0400), 0);
  ASSERT_EQ(::chmod(folder.path().c_str(), 0500), 0);
  ::unlink((folder.path() / "hearth.lock").c_str());
  const int code = WaitForUnprivileged(folder, [&folder] {
    const auto store = testing::StoreCache::Open(folder.options());
    if (!store.ok()) return 1;
    if ((*store)->TakeWarnings().size() != 1) return 2;
    if (!(*store)->Get(NumberedKey(1))) return 3;
    PutOne(**store, NumberedKey(2), NumberedBlob(2, 100));
    (*store)->BeginUse(NumberedKey(1));
    (*store)->EndUse(NumberedKey(1));
    return (*store)->counters().put_errors == 1 ? 0 : 4;
  });
  if (code == 77) GTEST_SKIP() << "root here can't become another user";
  EXPECT_EQ(code, 0);
}

TEST(CacheTrouble, AnUnwritableParentIsAnErrorThatNamesTheFolder) {
  const CacheFolder folder;
  ASSERT_EQ(::chmod(folder.path().c_str(), 0500), 0);
  const int code = WaitForUnprivileged(folder, [&folder] {
    StoreOptions options{.folder = folder.path() / "below"};
    const auto store = testing::StoreCache::Open(options);
    return !store.ok() && store.status().message().find("below") != std::string::npos ? 0 : 1;
  });
  if (code == 77) GTEST_SKIP() << "root here can't become another user";
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace hearth
