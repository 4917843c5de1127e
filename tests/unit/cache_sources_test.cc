// Programs and their sources in a store: where they came from, which get room, and that they come and go together.
#include <gmock/gmock.h>

#include <deque>

#include "cache/desk/reports.h"
#include "cache/files/database.h"
#include "cache/store/put_entries.h"
#include "core/store/entry_links.h"
#include "tests/testing/cache_folder.h"

namespace hearth {
namespace {

using testing::CacheFolder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::NumberedBlob;
using testing::NumberedKey;
using testing::PutOne;
using testing::PutRequest;
using ::testing::UnorderedElementsAre;

CacheKey SourceKeyOf(int number) {
  return NumberedKey(number, BlobKind::kSource);
}
std::vector<std::byte> ProgramOf(int number) {
  const auto rest = NumberedBlob(number + 100, 9);
  return ToBytes(LinkedEntry{{SourceKeyOf(number)}, rest});
}

// Puts a program before its source, of this size.
void PutPair(testing::TestCache& store, int number, size_t source_bytes, double cost_ms) {
  const CacheKey program = NumberedKey(number), source = SourceKeyOf(number);
  const auto named = ProgramOf(number), portable = NumberedBlob(number, source_bytes);
  const PutRequest requests[] = {{&program, named, cost_ms / 8}, {&source, portable, cost_ms / 8 * 7}};
  store.Put(requests);
}

std::vector<std::string> OriginsIn(const CacheFolder& folder) {
  std::vector<std::string> origins;
  const auto entries = ListEntries(folder.path());
  for (const CacheEntry& entry : entries.value()) origins.push_back(entry.origin);
  return origins;
}

std::vector<std::string> DigestsIn(const CacheFolder& folder) {
  std::vector<std::string> digests;
  const auto entries = ListEntries(folder.path());
  for (const CacheEntry& entry : entries.value()) digests.push_back(entry.digest);
  return digests;
}

TEST(CacheSources, ASourceThatALayerHasIsStoredAsTheLayers) {
  const CacheFolder bundle, folder;
  PutOne(*bundle.Open(), SourceKeyOf(1), NumberedBlob(1, 1000));
  const auto store = testing::WithLayer(bundle.OpenStore(), folder.OpenStore());
  PutOne(*store, SourceKeyOf(1), *store->Get(SourceKeyOf(1)));
  EXPECT_THAT(OriginsIn(folder), ElementsAre("bundle"));
  PutOne(*store, SourceKeyOf(1), NumberedBlob(9, 1000));
  EXPECT_THAT(OriginsIn(folder), ElementsAre("here")) << "other bytes";
}

// A driver's code is what the SPIR-V says: revoking its signer must find both, and nobody else may sign them.
TEST(CacheSources, AProgramHasTheOriginOfItsSource) {
  const CacheFolder bundle, folder, imported;
  PutOne(*bundle.Open(), SourceKeyOf(1), NumberedBlob(1, 1000));
  const auto store = testing::WithLayer(bundle.OpenStore(), folder.OpenStore());
  EXPECT_TRUE(store->Get(SourceKeyOf(1)));
  PutPair(*store, 1, 1000, 8);
  EXPECT_THAT(OriginsIn(folder), ElementsAre("bundle", "bundle"));

  const CacheKey source = SourceKeyOf(1);
  const auto bytes = NumberedBlob(1, 1000);
  const PutRequest signed_source{&source, bytes, 8, "bundle 3f82"};
  imported.Open()->Put({&signed_source, 1});
  const auto later = imported.Open();
  EXPECT_TRUE(later->Get(source));
  PutPair(*later, 1, 1000, 8);
  EXPECT_THAT(OriginsIn(imported), ElementsAre("bundle 3f82", "bundle 3f82"));
}

TEST(CacheSources, TheSameBytesAreNotWrittenAgainAndKeepTheLargerCost) {
  const CacheFolder folder;
  PutOne(*folder.Open(), SourceKeyOf(1), NumberedBlob(1, 1000), 50);
  for (const double cost_ms : {3.0, 70.0}) {
    const auto store = folder.Open();
    PutOne(*store, SourceKeyOf(1), NumberedBlob(1, 1000), cost_ms);
    EXPECT_EQ(store->counters().bytes_written, 0u);
    EXPECT_EQ(store->counters().put_errors, 0u);
    EXPECT_EQ(ListEntries(folder.path())->front().cost_ms, std::max(cost_ms, 50.0));
  }
  const auto store = folder.Open();
  PutOne(*store, SourceKeyOf(1), NumberedBlob(2, 1000), 1);
  EXPECT_EQ(store->Get(SourceKeyOf(1)), NumberedBlob(2, 1000));
}

TEST(CacheSources, ADamagedSourceIsWrittenAgain) {
  const CacheFolder folder;
  PutOne(*folder.Open(), SourceKeyOf(1), NumberedBlob(1, 1000));
  ASSERT_TRUE(Database::Open(folder.file(), Database::Access::kReadWrite)->Run("UPDATE blobs SET bytes=x'00'").ok());
  const auto store = folder.Open();
  EXPECT_FALSE(store->Get(SourceKeyOf(1)));
  PutOne(*store, SourceKeyOf(1), NumberedBlob(1, 1000));
  EXPECT_EQ(store->Get(SourceKeyOf(1)), NumberedBlob(1, 1000));
}

TEST(CacheSources, ACostlyBinaryGetsTheRoomThatCheapWeightsWouldTake) {
  const CacheFolder folder;
  auto options = folder.options();
  options.max_bytes = 1 << 20;
  for (int number = 0; number < 8; ++number) {  // whatever the order of digests
    const auto store = folder.Open(options);
    const CacheKey weights = NumberedKey(number, BlobKind::kWeights), binary = NumberedKey(number);
    {
      const PutBatch batch(store.get());
      PutOne(*store, weights, NumberedBlob(number, 600'000), 87);
      PutOne(*store, binary, NumberedBlob(number, 300'000), 1462);
    }
    EXPECT_TRUE(store->Get(binary));
    EXPECT_FALSE(store->Get(weights));
    EXPECT_EQ(store->counters().put_errors, 1u);
  }
}

TEST(CacheSources, OfPairsThatHaveNoRoomTogetherWholeOnesAreStored) {
  const CacheFolder folder;
  auto options = folder.options();
  options.max_bytes = 1 << 20;
  const auto store = folder.Open(options);
  {
    const PutBatch batch(store.get());
    for (int number = 0; number < 5; ++number) PutPair(*store, number, 250'000, 100 * (number + 1));
  }
  int stored = 0;
  for (int number = 0; number < 5; ++number) {
    const bool has_source = store->Get(SourceKeyOf(number)).has_value();
    EXPECT_EQ(store->Get(NumberedKey(number)).has_value(), has_source) << number;
    stored += has_source;
  }
  EXPECT_GT(stored, 0);
  EXPECT_LT(stored, 5);
  EXPECT_TRUE(store->Get(SourceKeyOf(4))) << "the one that took longest";
  EXPECT_EQ(store->counters().put_errors, 2u * static_cast<unsigned>(5 - stored));
}

TEST(CacheSources, AProgramWhoseSourceIsBarredIsBarredWithIt) {
  const CacheFolder folder;
  folder.Open().reset();
  ASSERT_TRUE(Database::Open(folder.file(), Database::Access::kReadWrite)
                  ->Run(fmt::format("INSERT INTO quarantine VALUES(x'{}', x'{}', 3, 'source', {})",
                                    SourceKeyOf(1).digest().ToHex(), FingerprintOf(NumberedBlob(1, 1000)).ToHex(),
                                    std::time(nullptr) * int64_t{1000}))
                  .ok());
  const auto store = folder.Open();
  PutPair(*store, 1, 1000, 8);
  EXPECT_FALSE(store->Get(SourceKeyOf(1)) || store->Get(NumberedKey(1)));
  EXPECT_EQ(store->counters().put_errors, 0u);
  const CacheKey program = NumberedKey(1), source = SourceKeyOf(1);
  const auto named = ProgramOf(1), portable = NumberedBlob(1, 1000);
  const NewEntry entries[] = {{&program, named, 1, {}, program.digest(), FingerprintOf(named)},
                              {&source, portable, 7, {}, source.digest(), FingerprintOf(portable)}};
  PutResult results[2];
  EXPECT_TRUE(folder.OpenStore()->Put(entries, results, 0));
  EXPECT_THAT(results, ElementsAre(PutResult::kBarred, PutResult::kBarred));
}

TEST(CacheSources, ProgramsGoWithASourceThatMakesRoom) {
  const CacheFolder folder;
  auto options = folder.options();
  options.max_bytes = 1'300'000;
  PutPair(*folder.Open(options), 1, 300'000, 10);
  PutPair(*folder.Open(options), 2, 300'000, 10'000);
  PutOne(*folder.Open(options), NumberedKey(3), NumberedBlob(3, 200'000), 500);
  PutOne(*folder.Open(options), NumberedKey(4), NumberedBlob(4, 300'000), 500);
  const auto store = folder.Open(options);
  EXPECT_FALSE(store->Get(SourceKeyOf(1)) || store->Get(NumberedKey(1)));
  EXPECT_TRUE(store->Get(SourceKeyOf(2)) && store->Get(NumberedKey(2)));
  EXPECT_TRUE(store->Get(NumberedKey(3)) && store->Get(NumberedKey(4)));
}

TEST(CacheSources, ProgramsGoWithASourceThatIsPruned) {
  const CacheFolder folder;
  for (int number = 0; number < 6; ++number) PutPair(*folder.Open(), number, 300'000, 10 * (number + 1));
  PutOne(*folder.Open(), NumberedKey(9), NumberedBlob(9, 1000), 500);
  ASSERT_TRUE(PruneStore(folder.path(), 1'200'000).ok());
  const auto store = folder.Open();
  int stored = 0;
  for (int number = 0; number < 6; ++number) {
    const bool has_source = store->Get(SourceKeyOf(number)).has_value();
    EXPECT_EQ(store->Get(NumberedKey(number)).has_value(), has_source) << number;
    stored += has_source;
  }
  EXPECT_GT(stored, 0);
  EXPECT_LT(stored, 6);
  EXPECT_TRUE(store->Get(NumberedKey(9)));
}

TEST(CacheSources, ProgramsGoWithSourcesThatAreCleared) {
  const CacheFolder folder;
  for (const int number : {1, 2}) PutPair(*folder.Open(), number, 1000, 10);
  PutOne(*folder.Open(), NumberedKey(9), NumberedBlob(9, 100));
  const auto removed = ClearStore(folder.path(), {.kind = "source"});
  ASSERT_TRUE(removed.ok()) << removed.status().message();
  EXPECT_EQ(removed->entries, 4u);
  EXPECT_EQ(removed->blob_bytes, 2000 + 2 * ProgramOf(1).size());
  EXPECT_THAT(DigestsIn(folder), ElementsAre(NumberedKey(9).digest().ToHex()));
}

// Also those of pinned models, which a clearing does not spare: their sources are gone.
TEST(CacheSources, PinnedProgramsGoWithSourcesThatAreCleared) {
  const CacheFolder folder;
  auto options = folder.options();
  options.model = {std::string(32, 'f'), "/models/pinned"};
  PutPair(*CacheFolder::Open(options), 1, 1000, 10);
  ASSERT_TRUE(SetPinned(folder.path(), "/models/pinned", true).ok());
  EXPECT_EQ(ClearStore(folder.path(), {.kind = "source"})->entries, 2u);
}

// Nothing else of a damaged store keeps sources from being cleared.
TEST(CacheSources, AreClearedAlsoBesideAProgramThatCanNotBeRead) {
  const CacheFolder folder;
  PutPair(*folder.Open(), 1, 1000, 10);
  ASSERT_TRUE(Database::Open(folder.file(), Database::Access::kReadWrite)
                  ->Run("DELETE FROM blobs WHERE id IN (SELECT id FROM entries WHERE kind='program')")
                  .ok());
  const auto removed = ClearStore(folder.path(), {.kind = "source"});
  ASSERT_TRUE(removed.ok()) << removed.status().message();
  EXPECT_EQ(removed->entries, 2u);
}

TEST(CacheSources, ProgramsGoWithASourceOfAModelThatIsRemoved) {
  const CacheFolder folder;
  PutPair(*folder.Open(), 1, 1000, 10);
  {
    auto options = folder.options();
    options.model = {std::string(32, 'f'), "/models/m"};
    EXPECT_TRUE(CacheFolder::Open(options)->Get(SourceKeyOf(1)));  // with another device, whose program is not stored
  }
  EXPECT_EQ(RemoveModel(folder.path(), "/models/m")->entries, 2u);
  EXPECT_THAT(DigestsIn(folder), IsEmpty());
}

TEST(CacheSources, ProgramsGoWithADamagedSourceThatARepairDeletes) {
  const CacheFolder folder;
  for (const int number : {1, 2}) PutPair(*folder.Open(), number, 1000 * static_cast<size_t>(number), 10);
  ASSERT_TRUE(Database::Open(folder.file(), Database::Access::kReadWrite)
                  ->Run("UPDATE blobs SET bytes=zeroblob(1000) WHERE length(bytes)=1000")
                  .ok());
  EXPECT_TRUE(VerifyStore(folder.path(), true)->repaired);
  EXPECT_THAT(DigestsIn(folder),
              UnorderedElementsAre(SourceKeyOf(2).digest().ToHex(), NumberedKey(2).digest().ToHex()));
}

// As an import of a delta, whose sources came with another bundle.
TEST(CacheSources, WhatANewProgramNeedsMakesNoRoomForIt) {
  const CacheFolder folder;
  for (int number = 0; number < 4; ++number)
    PutOne(*folder.Open(), SourceKeyOf(number), NumberedBlob(number, 200'000), 1);
  PutOne(*folder.Open(), NumberedKey(9), NumberedBlob(9, 200'000), 500);
  auto options = folder.options();
  options.max_bytes = 1'400'000;
  {
    const auto store = CacheFolder::Open(options);
    for (const int number : {0, 1}) PutOne(*store, NumberedKey(number), ProgramOf(number), 10);
    PutOne(*store, NumberedKey(10), NumberedBlob(10, 500'000), 500);
  }
  const auto store = CacheFolder::Open(options);
  for (const int number : {0, 1}) EXPECT_TRUE(store->Get(SourceKeyOf(number)) && store->Get(NumberedKey(number)));
  EXPECT_FALSE(store->Get(SourceKeyOf(2)) && store->Get(SourceKeyOf(3)));
  EXPECT_TRUE(store->Get(NumberedKey(10)));
}

void PutSource(testing::TestCache& store, const std::string& origin) {
  const CacheKey source = SourceKeyOf(1);
  const auto bytes = NumberedBlob(1, 1000);
  const PutRequest request{&source, bytes, 1, origin};
  store.Put({&request, 1});
}

// So that revoking the earlier signer leaves the later one's programs their source.
TEST(CacheSources, TheSameBytesOfALaterSignerBecomeHis) {
  const CacheFolder folder;
  PutSource(*folder.Open(), "bundle 1111");
  PutSource(*folder.Open(), "bundle 2222");
  EXPECT_THAT(OriginsIn(folder), ElementsAre("bundle 2222"));
  PutSource(*folder.Open(), "bundle");
  EXPECT_THAT(OriginsIn(folder), ElementsAre("bundle 2222")) << "which nobody has signed";
  PutSource(*folder.Open(), "");
  EXPECT_THAT(OriginsIn(folder), ElementsAre("bundle 2222")) << "which a session made";
}

TEST(CacheSources, WhatWasMadeHereStaysSoWhereASignerHasTheSameBytes) {
  const CacheFolder folder;
  PutSource(*folder.Open(), "");
  PutSource(*folder.Open(), "bundle 1111");
  EXPECT_THAT(OriginsIn(folder), ElementsAre("here"));
}

TEST(MostWorthFirst, CountsAProgramWithItsSourceWhichComesFirst) {
  const CacheKey keys[] = {NumberedKey(1), SourceKeyOf(1), NumberedKey(3, BlobKind::kWeights)};
  const auto program = ProgramOf(1), source = NumberedBlob(1, 6000), weights = NumberedBlob(3, 20'000);
  const auto order = [&](double program_ms, double source_ms, double weights_ms) {
    const NewEntry entries[] = {{&keys[0], program, program_ms, {}, keys[0].digest(), {}},
                                {&keys[2], weights, weights_ms, {}, keys[2].digest(), {}},
                                {&keys[1], source, source_ms, {}, keys[1].digest(), {}}};
    return MostWorthFirst(entries);
  };
  EXPECT_THAT(order(10, 70, 100), ElementsAre(2, 0, 1));
  EXPECT_THAT(order(10, 70, 1000), ElementsAre(1, 2, 0));
  EXPECT_THAT(order(0, -5, std::nan("")), ElementsAre(2, 0, 1));
}

}  // namespace
}  // namespace hearth
