// A store that is rewritten into a smaller file: what others store meanwhile is kept, and whoever is killed at any
// point leaves a whole store.
#include <fcntl.h>
#include <gmock/gmock.h>

#include <array>
#include <csignal>
#include <memory>
#include <random>

#include "cache/desk/reports.h"
#include "cache/files/store_names.h"
#include "cache/store/entry_row.h"
#include "cache/store/models.h"
#include "cache/store/rewrite.h"
#include "core/base/descriptor.h"
#include "tests/testing/cache_folder.h"
#include "tests/testing/small_disk.h"
#include "tests/testing/stopped_process.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;
using testing::CacheFolder;
using testing::NumberedBlob;
using testing::NumberedKey;
using testing::PutOne;
using testing::StartProcess;
using testing::WaitFor;

constexpr size_t kRewrittenBlobBytes = 30'000;

void PutEntries(const CacheFolder& folder, int first, int end) {
  const auto store = folder.Open();
  for (int number = first; number < end; ++number) {
    PutOne(*store, NumberedKey(number), NumberedBlob(number, kRewrittenBlobBytes));
  }
}

void DeleteEntries(const CacheFolder& folder, int first, int end) {
  auto database = Database::Open(folder.file(), Database::Access::kReadWrite);
  ASSERT_TRUE(database.ok());
  for (int number = first; number < end; ++number) {
    ASSERT_TRUE(DeleteEntry(*database, NumberedKey(number).digest()).ok());
  }
}

Status Rewrite(const CacheFolder& folder) {
  std::optional<Database> database;
  HEARTH_ASSIGN(database, Database::Open(folder.file(), Database::Access::kReadWrite));
  return RewriteStore(folder.options(), database);
}

void ExpectEntries(const CacheFolder& folder, int first, int end) {
  const auto store = folder.Open();
  for (int number = first; number < end; ++number) {
    EXPECT_EQ(store->Get(NumberedKey(number)), NumberedBlob(number, kRewrittenBlobBytes)) << number;
  }
  EXPECT_TRUE(store->TakeWarnings().empty());
}

TEST(CacheRewrite, TheFileIsSmallerAndHoldsWhatTheOldOneHeld) {
  const CacheFolder folder;
  std::string name;
  const std::vector<std::byte> content = NumberedBlob(1, 100);
  {
    auto options = folder.options();
    options.model = {"0123456789abcdef", "/models/a.tflite"};
    const auto store = CacheFolder::Open(options);
    for (int number = 0; number < 40; ++number) {
      PutOne(*store, NumberedKey(number), NumberedBlob(number, kRewrittenBlobBytes));
    }
    name = store->NameOf(content, NameUse::kPut);
    PutOne(*store, NumberedKey(40), NumberedBlob(40, kRewrittenBlobBytes));
  }
  ASSERT_TRUE(SetPinned(folder.path(), "/models/a.tflite", true).ok());
  DeleteEntries(folder, 0, 30);
  const uint64_t before = fs::file_size(folder.file());
  const auto hits = ReadStoreStats(folder.path())->lifetime.bytes_written;
  const Status status = Rewrite(folder);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_LT(fs::file_size(folder.file()), before / 2);
  EXPECT_EQ(ReadStoreStats(folder.path())->lifetime.bytes_written, hits);
  EXPECT_TRUE(DescribeModel(folder.path(), "/models/a.tflite")->is_pinned);
  EXPECT_EQ(folder.Open()->NameOf(content, NameUse::kLookUp), name) << "known by the store's secret";
  ExpectEntries(folder, 30, 41);
  EXPECT_TRUE(VerifyStore(folder.path(), false)->clean());
  std::vector<std::string> files;
  for (const auto& file : fs::directory_iterator(folder.path())) files.push_back(file.path().filename().string());
  EXPECT_THAT(files, ::testing::IsSubsetOf({"hearth.db", "hearth.db-wal", "hearth.db-shm", "hearth.lock"}));
}

TEST(CacheRewrite, AnOpenSessionReadsTheOldFileAndStoresIntoTheNewOne) {
  const CacheFolder folder;
  PutEntries(folder, 0, 10);
  const auto session = folder.Open();
  EXPECT_TRUE(session->Get(NumberedKey(9)));
  DeleteEntries(folder, 0, 5);
  ASSERT_TRUE(Rewrite(folder).ok());
  EXPECT_TRUE(session->Get(NumberedKey(9)));
  PutOne(*session, NumberedKey(10), NumberedBlob(10, kRewrittenBlobBytes));
  EXPECT_EQ(session->counters().put_errors, 0u);
  ExpectEntries(folder, 5, 11);
}

TEST(CacheRewrite, CountersOfASessionThatIsOpenMeanwhileAreKept) {
  const CacheFolder folder;
  PutEntries(folder, 0, 10);
  auto session = folder.Open();
  EXPECT_TRUE(session->Get(NumberedKey(9)));
  ASSERT_TRUE(Rewrite(folder).ok());
  session.reset();
  EXPECT_EQ(ReadStoreStats(folder.path())->lifetime.hits, 1u);
}

// A transaction that waited for the lock while the file was replaced would store where nobody looks.
TEST(CacheRewrite, NoTransactionBeginsOnAFileThatHasLostItsName) {
  const CacheFolder folder;
  PutEntries(folder, 0, 2);
  auto old = Database::Open(folder.file(), Database::Access::kReadWrite);
  ASSERT_TRUE(old.ok() && Transaction::Begin(*old).ok());
  ASSERT_TRUE(Rewrite(folder).ok());
  const Status status = Transaction::Begin(*old).status();
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_THAT(status.message(), ::testing::HasSubstr("was replaced meanwhile"));
  EXPECT_EQ(PinModel(*old, 1, true).code(), StatusCode::kUnavailable);
  EXPECT_EQ(NoteRevocation(*old, "0123").code(), StatusCode::kUnavailable);
  EXPECT_EQ(LiftQuarantine(*old, "").status().code(), StatusCode::kUnavailable);
}

TEST(CacheRewrite, AStoreInWhichSomebodyReadsIsLeftAsItIs) {
  const CacheFolder folder;
  PutEntries(folder, 0, 10);
  auto reader = Database::Open(folder.file(), Database::Access::kReadOnly);
  ASSERT_TRUE(reader.ok() && reader->Run("BEGIN").ok() && reader->Number("SELECT count(*) FROM entries").ok());
  PutEntries(folder, 10, 11);
  const FileIdentity before = IdentityOf(folder.file());
  EXPECT_EQ(Rewrite(folder).code(), StatusCode::kUnavailable);
  EXPECT_EQ(IdentityOf(folder.file()), before);
  ASSERT_TRUE(reader->Run("COMMIT").ok());
  ASSERT_TRUE(Rewrite(folder).ok());
  ExpectEntries(folder, 0, 11);
}

TEST(CacheRewrite, AStoreForWhoseCopyTheDiskHasNoRoomIsLeftAsItIs) {
  const testing::SmallDisk disk;
  SKIP_WITHOUT_MOUNTING(disk);
  disk.PutSix();
  disk.FillUp();
  std::optional<Database> database;
  {
    auto opened = Database::Open(disk.folder() / kStoreFileName, Database::Access::kReadOnly);
    ASSERT_TRUE(opened.ok());
    database = *std::move(opened);
  }
  EXPECT_FALSE(RewriteStore(disk.options(), database).ok());
  EXPECT_TRUE(database.has_value());
  database.reset();
  EXPECT_EQ(ListEntries(disk.folder())->size(), 6u);
  EXPECT_TRUE(VerifyStore(disk.folder(), false)->clean());
  for (const auto& file : fs::directory_iterator(disk.folder())) {
    EXPECT_FALSE(file.path().filename().string().starts_with("unfinished-")) << file.path();
  }
}

TEST(CacheRewrite, WhatOthersStoreReplaceAndDeleteMeanwhileIsKept) {
  const CacheFolder folder;
  constexpr int kRounds = 6, kStored = 60;
  PutEntries(folder, 0, 30);
  const pid_t writer = StartProcess([&] {
    for (int number = 100; number < 100 + kStored; ++number) {
      SessionWaits waits(60'000);
      auto options = folder.options();
      options.waits = &waits;
      const auto store = testing::StoreCache::Open(options);
      if (!store.ok()) return 1;
      PutOne(**store, NumberedKey(number), NumberedBlob(number, kRewrittenBlobBytes));
      PutOne(**store, NumberedKey(7), NumberedBlob(number, 5000));  // the same key with other bytes, under a new id
      if (number % 10 == 0) (*store)->Reject(NumberedKey(number - 95), "a test");
      if ((*store)->counters().put_errors == 0) continue;
      for (const std::string& warning : (*store)->TakeWarnings()) fmt::print(stderr, "{}: {}\n", number, warning);
      return 2;
    }
    return 0;
  });
  int rewritten = 0;
  for (int round = 0; round < kRounds; ++round) {
    const Status status = Rewrite(folder);
    EXPECT_TRUE(status.ok() || status.code() == StatusCode::kUnavailable) << status.message();
    rewritten += status.ok() ? 1 : 0;
  }
  EXPECT_EQ(WaitFor(writer), 0);
  EXPECT_GT(rewritten, 0);
  ExpectEntries(folder, 100, 100 + kStored);
  const auto store = folder.Open();
  EXPECT_EQ(store->Get(NumberedKey(7)), NumberedBlob(100 + kStored - 1, 5000));
  for (int number = 5; number < 5 + kStored; number += 10) EXPECT_FALSE(store->Get(NumberedKey(number))) << number;
  EXPECT_TRUE(VerifyStore(folder.path(), false)->clean());
}

// A process that has the store open and stores an entry when it is told to.
class OpenSession {
 public:
  OpenSession(const CacheFolder& folder, int number) {
    std::array<int, 2> ready{}, go{};
    EXPECT_TRUE(::pipe2(ready.data(), O_CLOEXEC) == 0 && ::pipe2(go.data(), O_CLOEXEC) == 0);
    child_ = StartProcess([&] {
      const auto store = testing::StoreCache::Open(folder.options());
      char byte = 0;
      if (!store.ok() || !(*store)->Get(NumberedKey(1)) || ::write(ready[1], "r", 1) != 1) return 1;
      if (::read(go[0], &byte, 1) != 1) return 2;
      PutOne(**store, NumberedKey(number), NumberedBlob(number, kRewrittenBlobBytes));
      return (*store)->counters().put_errors == 0 && (*store)->TakeWarnings().empty() ? 0 : 3;
    });
    go_ = Descriptor(go[1]);
    const Descriptor unused(go[0]), unused_too(ready[1]), told(ready[0]);
    char byte = 0;
    EXPECT_EQ(::read(told.get(), &byte, 1), 1);
  }
  int Store() {
    EXPECT_EQ(::write(go_.get(), "g", 1), 1);
    return WaitFor(child_);
  }

 private:
  Descriptor go_;
  pid_t child_ = 0;
};

TEST(CacheRewrite, AProcessThatIsKilledAtAnyPointLeavesAWholeStore) {
  const CacheFolder folder;
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::minstd_rand random(seed);
  constexpr int kEntries = 12;
  PutEntries(folder, 0, kEntries);
  int killed = 0;
  bool is_killed = true;
  for (int number = 1; is_killed; number += 1 + static_cast<int>(random() % 8)) {
    const int stored = killed % kEntries;
    OpenSession session(folder, stored);
    is_killed = testing::StoppedProcess(number, [&] { return Rewrite(folder).ok() ? 0 : 1; }).is_stopped();
    ASSERT_EQ(session.Store(), 0) << "killed before call " << number;
    ExpectEntries(folder, 0, kEntries);
    ASSERT_TRUE(VerifyStore(folder.path(), false)->clean()) << "killed before call " << number;
    for (const auto& file : fs::directory_iterator(folder.path())) {
      const std::string name = file.path().filename().string();
      EXPECT_FALSE(name.starts_with("unfinished-")) << name << " after call " << number;
    }
    if (HasFailure()) return;
    ++killed;
  }
  EXPECT_GT(killed, 20);
}

// A process that was killed between removing the file and removing its log.
TEST(CacheRewrite, ALogWithoutItsFileIsNotReplayedIntoANewOne) {
  const CacheFolder folder;
  std::string log;
  {
    const auto store = folder.Open();
    for (int number = 0; number < 20; ++number) PutOne(*store, NumberedKey(number), NumberedBlob(number, 1000));
    log = testing::ReadFile(folder.file().string() + "-wal");
  }
  ASSERT_FALSE(log.empty());
  RemoveWithSideFiles(folder.file());
  testing::WriteFile(folder.file().string() + "-wal", log);
  const auto store = folder.Open();
  EXPECT_FALSE(store->Get(NumberedKey(3)));
  PutOne(*store, NumberedKey(50), NumberedBlob(50, 1000));
  EXPECT_TRUE(store->Get(NumberedKey(50)));
  EXPECT_TRUE(store->TakeWarnings().empty());
  EXPECT_EQ(ListEntries(folder.path())->size(), 1u);
}

}  // namespace
}  // namespace hearth
