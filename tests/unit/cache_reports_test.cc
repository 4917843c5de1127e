// The values behind `hearth cache ...`.
#include "cache/desk/reports.h"
#include "cache/files/database.h"
#include "cache/store/last_misses.h"
#include "tests/testing/cache_folder.h"
#include "tests/testing/memory_store.h"

namespace hearth {
namespace {

using testing::CacheFolder;
using testing::NumberedBlob;
using testing::NumberedKey;
using testing::PutOne;

CacheKey ProgramKey(std::string_view kernel, std::string_view driver) {
  CacheKey key(BlobKind::kProgram);
  key.Add("kernel", kernel).Add("driver", driver);
  return key;
}

TEST(CacheReports, AFolderWithoutAStoreIsAnEmptyOneAndNothingIsMade) {
  const CacheFolder folder;
  const auto missing = folder.path() / "missing";
  EXPECT_TRUE(ListEntries(missing)->empty());
  EXPECT_EQ(ReadStoreStats(missing)->entries, 0u);
  EXPECT_TRUE(VerifyStore(missing, true)->clean());
  EXPECT_EQ(ClearStore(missing)->entries, 0u);
  EXPECT_FALSE(std::filesystem::exists(missing));
}

TEST(CacheReports, AListShowsKindSizeCostAndTheKeysFields) {
  const CacheFolder folder;
  PutOne(*folder.Open(), ProgramKey("conv", "1.0"), NumberedBlob(1, 123), 45);
  const auto entries = ListEntries(folder.path());
  ASSERT_TRUE(entries.ok()) << entries.status().message();
  ASSERT_EQ(entries->size(), 1u);
  const CacheEntry& entry = entries->front();
  EXPECT_EQ(entry.kind, "program");
  EXPECT_EQ(entry.size_bytes, 123u);
  EXPECT_EQ(entry.cost_ms, 45);
  EXPECT_EQ(entry.digest, ProgramKey("conv", "1.0").digest().ToHex());
  const std::vector<std::pair<std::string, std::string>> fields = {{"kernel", "conv"}, {"driver", "1.0"}};
  EXPECT_EQ(entry.fields, fields);
}

TEST(CacheReports, FiltersSelectByKindFieldDigestAndAge) {
  const CacheFolder folder;
  PutOne(*folder.Open(), ProgramKey("conv", "1.0"), NumberedBlob(1, 10));
  PutOne(*folder.Open(), ProgramKey("pool", "1.0"), NumberedBlob(2, 10));
  PutOne(*folder.Open(), NumberedKey(3, BlobKind::kWeights), NumberedBlob(3, 10));
  CacheFilter filter{.kind = "program"};
  EXPECT_EQ(ListEntries(folder.path(), filter)->size(), 2u);
  filter.field_contains = {{"kernel", "oo"}};
  EXPECT_EQ(ListEntries(folder.path(), filter)->size(), 1u);
  filter.unused_since_ms = 1000;
  EXPECT_EQ(ListEntries(folder.path(), filter)->size(), 0u);
  const std::string digest = ProgramKey("pool", "1.0").digest().ToHex();
  EXPECT_EQ(ShowEntry(folder.path(), digest)->fields.front().second, "pool");
  EXPECT_EQ(ShowEntry(folder.path(), "").status().code(), StatusCode::kNotFound);
}

TEST(CacheReports, StatsAddUpEntriesAndAllSessionsCounters) {
  const CacheFolder folder;
  PutOne(*folder.Open(), NumberedKey(1), NumberedBlob(1, 100), 30);
  PutOne(*folder.Open(), NumberedKey(2, BlobKind::kPlan), NumberedBlob(2, 50), 30);
  for (int session = 0; session < 3; ++session) {
    const auto store = folder.Open();
    EXPECT_TRUE(store->Get(NumberedKey(1)).has_value());
    EXPECT_FALSE(store->Get(NumberedKey(9)).has_value());
  }
  const auto stats = ReadStoreStats(folder.path());
  ASSERT_TRUE(stats.ok());
  EXPECT_EQ(stats->entries, 2u);
  EXPECT_EQ(stats->blob_bytes, 150u);
  EXPECT_EQ(stats->kinds.at("plan").blob_bytes, 50u);
  EXPECT_EQ(stats->lifetime.hits, 3u);
  EXPECT_EQ(stats->lifetime.misses, 3u);
  EXPECT_EQ(stats->lifetime.bytes_written, 150u);
  EXPECT_EQ(stats->lifetime.milliseconds_saved, 90);
}

// Sizes that no file has: damage, which `verify` finds.
TEST(CacheReports, ImpossibleSizesMakeNoOthersImpossible) {
  const CacheFolder folder;
  for (int number = 0; number < 4; ++number) PutOne(*folder.Open(), NumberedKey(number), NumberedBlob(number, 100));
  const auto set_sizes = [&](const std::string& sizes) {
    auto database = Database::Open(folder.file(), Database::Access::kReadWrite);
    ASSERT_TRUE(database.ok() && database->Run("UPDATE entries SET size_bytes=" + sizes).ok());
  };
  set_sizes("-5");
  EXPECT_EQ(ReadStoreStats(folder.path())->blob_bytes, 0u);
  EXPECT_EQ(ListEntries(folder.path())->front().size_bytes, 0u);
  set_sizes("9223372036854775807");
  EXPECT_EQ(ReadStoreStats(folder.path())->blob_bytes, UINT64_MAX);
  const auto removed = ClearStore(folder.path());
  ASSERT_TRUE(removed.ok()) << removed.status().message();
  EXPECT_EQ(removed->entries, 4u);
  EXPECT_EQ(removed->blob_bytes, UINT64_MAX);
}

TEST(CacheReports, ManyReadOnlyStartsDoNotLetTheLogGrow) {
  const CacheFolder folder;
  PutOne(*folder.Open(), NumberedKey(1), NumberedBlob(1, 100));
  for (int start = 0; start < 150; ++start) folder.Open()->Get(NumberedKey(1));
  EXPECT_LT(ReadStoreStats(folder.path())->file_bytes, uint64_t{2} << 20);
}

TEST(CacheReports, ClearingGivesTheSpaceBack) {
  const CacheFolder folder;
  for (int number = 0; number < 10; ++number) PutOne(*folder.Open(), NumberedKey(number), NumberedBlob(number, 100000));
  EXPECT_GT(std::filesystem::file_size(folder.file()), 1000000u);
  const auto removed = ClearStore(folder.path());
  ASSERT_TRUE(removed.ok()) << removed.status().message();
  EXPECT_EQ(removed->entries, 10u);
  EXPECT_EQ(removed->blob_bytes, 1000000u);
  EXPECT_LT(std::filesystem::file_size(folder.file()), 250000u);
  EXPECT_EQ(ReadStoreStats(folder.path())->lifetime.bytes_written, 0u);
}

TEST(CacheReports, PruningKeepsWhatFits) {
  const CacheFolder folder;
  for (int number = 0; number < 10; ++number) PutOne(*folder.Open(), NumberedKey(number), NumberedBlob(number, 100000));
  const auto removed = PruneStore(folder.path(), 700000);
  ASSERT_TRUE(removed.ok()) << removed.status().message();
  EXPECT_LE(std::filesystem::file_size(folder.file()), 700000u);
  EXPECT_GE(ListEntries(folder.path())->size(), 4u);
  EXPECT_EQ(ListEntries(folder.path())->size(), 10 - removed->entries);
}

TEST(CacheReports, TheNearestEntryNamesExactlyWhatDiffers) {
  const CacheFolder folder;
  PutOne(*folder.Open(), ProgramKey("pool", "2.0"), NumberedBlob(1, 10));
  PutOne(*folder.Open(), ProgramKey("conv", "1.0"), NumberedBlob(2, 10));
  PutOne(*folder.Open(), NumberedKey(1, BlobKind::kPlan), NumberedBlob(2, 10));
  CacheKey wanted = ProgramKey("conv", "1.1");
  wanted.Add("options", "fast");
  const auto entries = ListEntries(folder.path());
  const auto find = [&entries](const CacheKey& key) {
    return FindNearestEntry(*entries, BlobKindName(key.kind()), *DecodeKeyMaterial(key.material()));
  };
  const auto nearest = find(wanted);
  ASSERT_TRUE(nearest.has_value());
  EXPECT_EQ(nearest->entry->digest, ProgramKey("conv", "1.0").digest().ToHex());
  ASSERT_EQ(nearest->differences.size(), 2u);
  EXPECT_EQ(nearest->differences[0].field, "driver");
  EXPECT_EQ(nearest->differences[0].part, "driver version");
  EXPECT_EQ(nearest->differences[0].wanted, "1.1");
  EXPECT_EQ(nearest->differences[0].stored, "1.0");
  EXPECT_EQ(nearest->differences[1].field, "options");
  EXPECT_EQ(nearest->differences[1].stored, std::nullopt);
  EXPECT_TRUE(find(ProgramKey("conv", "1.0"))->differences.empty());
  EXPECT_FALSE(find(NumberedKey(1, BlobKind::kTuning)).has_value());
}

TEST(MemoryStore, KeepsBlobsAndFailsOnDemand) {
  testing::MemoryStore store;
  PutOne(store, NumberedKey(1), NumberedBlob(1, 100), 5);
  EXPECT_EQ(store.Get(NumberedKey(1)), NumberedBlob(1, 100));
  store.garble_reads = true;
  EXPECT_FALSE(store.Get(NumberedKey(1)).has_value());
  store.fail_puts = true;
  PutOne(store, NumberedKey(2), NumberedBlob(2, 100));
  const StoreCounters counters = store.counters();
  EXPECT_EQ(counters.hits, 1u);
  EXPECT_EQ(counters.rejected, 1u);
  EXPECT_EQ(counters.put_errors, 1u);
}

}  // namespace
}  // namespace hearth
