// What a caller sees of the store while nothing goes wrong with the file.
#include <atomic>
#include <thread>

#include "cache/files/database.h"
#include "core/store/entry_links.h"
#include "tests/testing/cache_folder.h"

namespace hearth {
namespace {

using testing::CacheFolder;
using testing::NumberedBlob;
using testing::NumberedKey;
using testing::PutOne;
using testing::PutRequest;

// Whether the blob with this number and size comes back right; a failure when it comes back wrong.
bool HasBlob(testing::TestCache& store, int number, size_t size_bytes) {
  const auto found = store.Get(NumberedKey(number));
  EXPECT_TRUE(!found || *found == NumberedBlob(number, size_bytes)) << "blob " << number;
  return found.has_value();
}

// Runs SQL on the file as a stranger would.
void Tamper(const CacheFolder& folder, const std::string& sql) {
  Result<Database> database = Database::Open(folder.file(), Database::Access::kReadWrite);
  ASSERT_TRUE(database.ok());
  const Status status = database->Run(sql);
  ASSERT_TRUE(status.ok()) << status.message();
}

TEST(CacheStore, ABlobOfAnySizeComesBackEqual) {
  const CacheFolder folder;
  const auto store = folder.Open();
  for (int size : {0, 1, 100, 16000, 16384, 1000000}) {
    PutOne(*store, NumberedKey(size), NumberedBlob(size, static_cast<size_t>(size)));
    EXPECT_TRUE(HasBlob(*store, size, static_cast<size_t>(size))) << size;
  }
  EXPECT_TRUE(store->TakeWarnings().empty());
}

TEST(CacheStore, ASecondOpenHitsAndCountsWhatItSaved) {
  const CacheFolder folder;
  PutOne(*folder.Open(), NumberedKey(1), NumberedBlob(1, 5000), 250);
  const auto store = folder.Open();
  EXPECT_TRUE(HasBlob(*store, 1, 5000));
  EXPECT_FALSE(HasBlob(*store, 2, 5000));
  const StoreCounters counters = store->counters();
  EXPECT_EQ(counters.hits, 1u);
  EXPECT_EQ(counters.misses, 1u);
  EXPECT_EQ(counters.rejected, 0u);
  EXPECT_EQ(counters.bytes_read, 5000u);
  EXPECT_EQ(counters.milliseconds_saved, 250);
}

TEST(CacheStore, APutReplacesTheEntryOfTheSameKey) {
  const CacheFolder folder;
  const auto store = folder.Open();
  PutOne(*store, NumberedKey(1), NumberedBlob(8, 100));
  PutOne(*store, NumberedKey(1), NumberedBlob(1, 200));
  EXPECT_TRUE(HasBlob(*store, 1, 200));
}

TEST(CacheStore, AKeyNamedTwiceInOnePutKeepsTheLaterBlob) {
  const CacheFolder folder;
  const auto store = folder.Open();
  const CacheKey key = NumberedKey(1);
  const auto first = NumberedBlob(7, 300), second = NumberedBlob(1, 100);
  const PutRequest requests[] = {{&key, first, 0}, {&key, second, 0}};
  store->Put(requests);
  EXPECT_TRUE(HasBlob(*store, 1, 100));
}

TEST(CacheStore, OtherMaterialUnderAForgedDigestIsAMiss) {
  const CacheFolder folder;
  PutOne(*folder.Open(), NumberedKey(1), NumberedBlob(1, 100));
  Tamper(folder, "UPDATE entries SET digest=x'" + NumberedKey(2).digest().ToHex() + "'");
  const auto store = folder.Open();
  EXPECT_FALSE(store->Get(NumberedKey(2)).has_value());
  EXPECT_EQ(store->counters().misses, 1u);
}

TEST(CacheStore, AnotherKindUnderAForgedDigestIsAMiss) {
  const CacheFolder folder;
  PutOne(*folder.Open(), NumberedKey(1), NumberedBlob(1, 100));
  Tamper(folder, "UPDATE entries SET kind='weights'");
  EXPECT_FALSE(folder.Open()->Get(NumberedKey(1)).has_value());
}

TEST(CacheStore, AWrongChecksumIsACountedRejectAndTheEntryGoes) {
  const CacheFolder folder;
  PutOne(*folder.Open(), NumberedKey(1), NumberedBlob(1, 100));
  Tamper(folder, "UPDATE blobs SET bytes=CAST(zeroblob(100) AS BLOB)");
  const auto store = folder.Open();
  EXPECT_FALSE(store->Get(NumberedKey(1)).has_value());
  EXPECT_EQ(store->counters().rejected, 1u);
  EXPECT_EQ(store->TakeWarnings().size(), 1u);
  EXPECT_FALSE(store->Get(NumberedKey(1)).has_value());
  EXPECT_EQ(store->counters().misses, 1u);
}

TEST(CacheStore, ASizeThatDoesNotFitTheBlobIsRejectedBeforeRoomIsAskedFor) {
  const CacheFolder folder;
  PutOne(*folder.Open(), NumberedKey(1), NumberedBlob(1, 100));
  Tamper(folder, "UPDATE entries SET size_bytes=1000000000000");
  bool was_asked = false;
  const auto store = folder.Open();
  EXPECT_FALSE(store->Get(NumberedKey(1), [&](uint64_t) {
    was_asked = true;
    return std::span<std::byte>();
  }));
  EXPECT_FALSE(was_asked);
  EXPECT_EQ(store->counters().rejected, 1u);
}

TEST(CacheStore, ADestinationThatTakesNothingIsAReject) {
  const CacheFolder folder;
  const auto store = folder.Open();
  PutOne(*store, NumberedKey(1), NumberedBlob(1, 100));
  EXPECT_FALSE(store->Get(NumberedKey(1), [](uint64_t) { return std::span<std::byte>(); }));
  EXPECT_EQ(store->counters().rejected, 1u);
}

TEST(CacheStore, ARejectedEntryIsGoneAndTheReasonIsToldOnce) {
  const CacheFolder folder;
  const auto store = folder.Open();
  PutOne(*store, NumberedKey(1), NumberedBlob(1, 100));
  store->Reject(NumberedKey(1), "the driver said no");
  store->Reject(NumberedKey(1), "the driver said no");
  EXPECT_FALSE(HasBlob(*store, 1, 100));
  EXPECT_EQ(store->counters().rejected, 2u);
  const auto warnings = store->TakeWarnings();
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("the driver said no"), std::string::npos);
}

TEST(CacheStore, TheFileStaysBelowItsLimitAndTheNewestEntriesStay) {
  const CacheFolder folder;
  StoreOptions options = folder.options();
  options.max_bytes = 2 << 20;
  for (int number = 0; number < 40; ++number) {  // 40 sessions, 4 MB
    PutOne(*folder.Open(options), NumberedKey(number), NumberedBlob(number, 100000));
    EXPECT_LE(std::filesystem::file_size(folder.file()), options.max_bytes) << "after " << number;
  }
  const auto store = folder.Open(options);
  EXPECT_TRUE(HasBlob(*store, 39, 100000));
  EXPECT_TRUE(HasBlob(*store, 30, 100000));
  EXPECT_FALSE(HasBlob(*store, 0, 100000));
  EXPECT_EQ(store->counters().put_errors, 0u);
}

// Alone it would be rejected at each start.
TEST(CacheStore, AProgramWhoseSourceHasNoRoomIsLeftOutToo) {
  const CacheFolder folder;
  StoreOptions options = folder.options();
  options.max_bytes = 1 << 20;
  CacheKey source(BlobKind::kSource), program(BlobKind::kProgram);
  source.Add("kernel", "conv");
  program.Add("kernel", "conv");
  const std::vector<std::byte> large = NumberedBlob(1, 2 << 20), rest = NumberedBlob(2, 9),
                               named = ToBytes(LinkedEntry{{source}, rest});
  const auto store = folder.Open(options);
  {
    const PutBatch batch(store.get());  // so that what has room is stored
    const PutRequest requests[] = {{&source, large, 1}, {&program, named, 1}};
    store->Put(requests);
    PutOne(*store, NumberedKey(3), NumberedBlob(3, 100));
  }
  EXPECT_FALSE(store->Get(source) || store->Get(program));
  EXPECT_TRUE(HasBlob(*store, 3, 100));
  EXPECT_EQ(store->counters().put_errors, 2u);
}

TEST(CacheStore, AnEntryThatWasReadSurvivesOneThatWasNot) {
  const CacheFolder folder;
  StoreOptions options = folder.options();
  options.max_bytes = 1'100'000;
  options.stamp_age_ms = 0;
  PutOne(*folder.Open(options), NumberedKey(0), NumberedBlob(0, 300000));
  Tamper(folder, "UPDATE entries SET last_used_ms=1000");
  PutOne(*folder.Open(options), NumberedKey(1), NumberedBlob(1, 300000));
  Tamper(folder, "UPDATE entries SET last_used_ms=2000 WHERE last_used_ms > 1000");
  EXPECT_TRUE(HasBlob(*folder.Open(options), 0, 300000));
  PutOne(*folder.Open(options), NumberedKey(2), NumberedBlob(2, 400000));
  const auto store = folder.Open(options);
  EXPECT_TRUE(HasBlob(*store, 0, 300000));
  EXPECT_FALSE(HasBlob(*store, 1, 300000));
  EXPECT_TRUE(HasBlob(*store, 2, 400000));
}

TEST(CacheStore, OfEntriesUnusedForAsLongTheOneThatTakesLongestToMakeStays) {
  const CacheFolder folder;
  StoreOptions options = folder.options();
  options.max_bytes = 1'100'000;
  PutOne(*folder.Open(options), NumberedKey(0), NumberedBlob(0, 300000), 2000);
  PutOne(*folder.Open(options), NumberedKey(1), NumberedBlob(1, 300000), 2);
  Tamper(folder, "UPDATE entries SET last_used_ms=1000");
  PutOne(*folder.Open(options), NumberedKey(2), NumberedBlob(2, 400000));
  const auto store = folder.Open(options);
  EXPECT_TRUE(HasBlob(*store, 0, 300000));
  EXPECT_FALSE(HasBlob(*store, 1, 300000));
  EXPECT_TRUE(HasBlob(*store, 2, 400000));
}

TEST(CacheStore, WhatTheSessionUsesIsNotEvictedForMore) {
  const CacheFolder folder;
  StoreOptions options = folder.options();
  options.max_bytes = 1'100'000;
  const auto store = folder.Open(options);
  PutOne(*store, NumberedKey(0), NumberedBlob(0, 700000));
  PutOne(*store, NumberedKey(1), NumberedBlob(1, 700000));
  EXPECT_TRUE(HasBlob(*store, 0, 700000));
  EXPECT_FALSE(HasBlob(*store, 1, 700000));
  EXPECT_EQ(store->counters().put_errors, 1u);
  EXPECT_EQ(store->TakeWarnings().size(), 1u);
}

TEST(CacheStore, AStampFromTheFutureIsSetRight) {
  const CacheFolder folder;
  PutOne(*folder.Open(), NumberedKey(0), NumberedBlob(0, 100));
  Tamper(folder, "UPDATE entries SET last_used_ms=9000000000000000");
  EXPECT_TRUE(HasBlob(*folder.Open(), 0, 100));
  Tamper(folder, "DELETE FROM entries WHERE last_used_ms >= 9000000000000000");
  EXPECT_TRUE(HasBlob(*folder.Open(), 0, 100));
}

TEST(CacheStore, ManyThreadsReadAndWriteOneStore) {
  const CacheFolder folder;
  const auto store = folder.Open();
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 20; ++i) {
        const int number = thread * 20 + i;
        PutOne(*store, NumberedKey(number), NumberedBlob(number, 3000));
        store->BeginUse(NumberedKey(number));
        const auto found = store->Get(NumberedKey(number));
        if (!found || *found != NumberedBlob(number, 3000)) ++wrong;
        store->EndUse(NumberedKey(number));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(store->counters().hits, 160u);
}

TEST(CacheStore, WithoutAWriteAheadLogItWorksToo) {
  const CacheFolder folder;
  StoreOptions options = folder.options();
  options.allow_write_ahead_log = false;
  PutOne(*folder.Open(options), NumberedKey(1), NumberedBlob(1, 50000));
  EXPECT_FALSE(std::filesystem::exists(folder.file().string() + "-wal"));
  EXPECT_TRUE(HasBlob(*folder.Open(options), 1, 50000));
}

TEST(CacheStore, AReadOnlyLayerIsReadAndNeverChanged) {
  const CacheFolder folder;
  StoreOptions options = folder.options();
  options.allow_write_ahead_log = false;
  PutOne(*folder.Open(options), NumberedKey(1), NumberedBlob(1, 50000));
  const std::string before = testing::ReadFile(folder.file());
  options.read_only = true;
  {
    const auto store = folder.Open(options);
    EXPECT_TRUE(HasBlob(*store, 1, 50000));
    PutOne(*store, NumberedKey(2), NumberedBlob(2, 100));
    EXPECT_EQ(store->counters().put_errors, 1u);
    store->Reject(NumberedKey(1), "test");
    EXPECT_FALSE(HasBlob(*store, 1, 50000)) << "refused in this session";
  }
  EXPECT_EQ(testing::ReadFile(folder.file()), before);
}

TEST(CacheStore, AMissingReadOnlyLayerIsAnErrorAndNotMade) {
  const CacheFolder folder;
  StoreOptions options = folder.options();
  options.read_only = true;
  const auto store = testing::StoreCache::Open(options);
  ASSERT_FALSE(store.ok());
  EXPECT_EQ(store.status().code(), StatusCode::kNotFound);
  EXPECT_FALSE(std::filesystem::exists(folder.file()));
}

}  // namespace
}  // namespace hearth
