// A limit that is too small: what has room is stored, and the advice is one that helps.
#include <gmock/gmock.h>

#include <optional>
#include <string>
#include <vector>

#include "cache/desk/bundle.h"
#include "cache/desk/reports.h"
#include "cache/files/folder.h"
#include "core/base/text.h"
#include "tests/testing/cache_folder.h"

namespace hearth {
namespace {

using ::testing::AllOf;
using testing::CacheFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::NumberedBlob;
using testing::NumberedKey;
using testing::PutOne;

constexpr uint64_t kBelowAnEmptyStore = 100 << 10, kSmallLimit = 400 << 10;

testing::OpenOptions WithLimit(const CacheFolder& folder, uint64_t max_bytes) {
  auto options = folder.options();
  options.max_bytes = max_bytes;
  return options;
}

// Whose two entries take 200 KB.
void PutPinnedModel(const CacheFolder& folder) {
  auto options = folder.options();
  options.model = {std::string(32, 'f'), "/models/pinned"};
  {
    const auto store = CacheFolder::Open(options);
    for (int number = 0; number < 2; ++number) PutOne(*store, NumberedKey(number), NumberedBlob(number, 100'000));
  }
  ASSERT_TRUE(SetPinned(folder.path(), "/models/pinned", true).ok());
}

std::vector<CacheFinding> TroublesUnder(const CacheFolder& folder, uint64_t max_bytes) {
  std::vector<CacheFinding> troubles;
  for (CacheFinding& finding : ExamineCache(folder.path(), max_bytes)) {
    if (finding.is_trouble) troubles.push_back(std::move(finding));
  }
  return troubles;
}

// Follows the only advice. Expects that there is no trouble then, and that something new is stored.
void ExpectAdviceThatHelps(const CacheFolder& folder, uint64_t max_bytes) {
  const std::vector<CacheFinding> troubles = TroublesUnder(folder, max_bytes);
  ASSERT_EQ(troubles.size(), 1u);
  const std::string command = troubles[0].command, start = "export HEARTH_CACHE_MAX_SIZE=";
  ASSERT_TRUE(command.starts_with(start)) << command;
  const auto advised_bytes = ParseSizeBytes(command.substr(start.size()));
  ASSERT_TRUE(advised_bytes.ok()) << command;
  EXPECT_THAT(TroublesUnder(folder, *advised_bytes), IsEmpty());
  const auto store = CacheFolder::Open(WithLimit(folder, *advised_bytes));
  PutOne(*store, NumberedKey(9), NumberedBlob(9, 10'000));
  EXPECT_EQ(store->counters().put_errors, 0u);
}

TEST(CacheLimit, OfAnImportWhatHasRoomIsStoredAndItFailsWithTheNumberOfTheRest) {
  const CacheFolder source, target, parent;
  for (int number = 0; number < 25; ++number) {
    PutOne(*source.Open(), NumberedKey(number), NumberedBlob(number, 20'000), 10);
  }
  const auto bundle = parent.path() / "bundle.tar";
  ASSERT_TRUE(ExportBundle({source.path(), bundle, {}, std::nullopt, "1.2.3"}).ok());
  const ImportRequest request{.bundle = bundle, .store = target.path(), .max_bytes = kSmallLimit, .is_trusted = true};
  const auto imported = ImportBundle(request);
  ASSERT_FALSE(imported.ok());
  const size_t stored = ListEntries(target.path())->size();
  EXPECT_GT(stored, 0u);
  EXPECT_THAT(
      imported.status().message(),
      AllOf(HasSubstr(std::to_string(25 - stored) + " entries could not be stored"), HasSubstr("raise its limit")));
}

TEST(CacheLimit, PruningBelowAnEmptyStoreSaysWhatStaysAndWhy) {
  const CacheFolder folder;
  PutOne(*folder.Open(), NumberedKey(1), NumberedBlob(1, 10'000));
  const auto removed = PruneStore(folder.path(), kBelowAnEmptyStore);
  ASSERT_TRUE(removed.ok()) << removed.status().message();
  EXPECT_EQ(removed->entries, 1u);
  EXPECT_THAT(removed->why_larger, AllOf(HasSubstr("an empty store takes 245760 bytes"), HasSubstr("at least 1M")));
  EXPECT_THAT(PruneStore(folder.path(), 1 << 20)->why_larger, IsEmpty());
}

TEST(CacheLimit, PruningBelowWhatPinnedModelsHaveNamesThem) {
  const CacheFolder folder;
  PutPinnedModel(folder);
  const auto removed = PruneStore(folder.path(), kSmallLimit);
  ASSERT_TRUE(removed.ok()) << removed.status().message();
  EXPECT_EQ(removed->entries, 0u);
  EXPECT_THAT(removed->why_larger,
              AllOf(HasSubstr("the entries of pinned models"), HasSubstr("cache pin MODEL --off")));
}

TEST(CacheLimit, TheDoctorsAdviceForOneBelowAnEmptyStoreHelps) {
  const CacheFolder folder;
  PutOne(*folder.Open(), NumberedKey(1), NumberedBlob(1, 10'000));
  ExpectAdviceThatHelps(folder, kBelowAnEmptyStore);
}

TEST(CacheLimit, TheDoctorsAdviceForOneBelowWhatPinnedModelsHaveHelps) {
  const CacheFolder folder;
  PutPinnedModel(folder);
  EXPECT_THAT(TroublesUnder(folder, kSmallLimit)[0].what, HasSubstr("cache pin MODEL --off"));
  ExpectAdviceThatHelps(folder, kSmallLimit);
}

TEST(CacheLimit, TheDoctorAdvisesToPruneWhereThatHelps) {
  const CacheFolder folder;
  for (int number = 0; number < 20; ++number)
    PutOne(*folder.Open(), NumberedKey(number), NumberedBlob(number, 100'000));
  const std::vector<CacheFinding> troubles = TroublesUnder(folder, 1 << 20);
  ASSERT_EQ(troubles.size(), 1u);
  EXPECT_EQ(troubles[0].command, "hearth cache prune --yes");
  EXPECT_THAT(PruneStore(folder.path(), 1 << 20)->why_larger, IsEmpty());
  EXPECT_THAT(TroublesUnder(folder, 1 << 20), IsEmpty());
}

TEST(CacheLimit, APutThatHasNoRoomBesidePinnedModelsNamesThemAndWhatSetsTheLimit) {
  const CacheFolder folder;
  PutPinnedModel(folder);
  const auto store = CacheFolder::Open(WithLimit(folder, 600 << 10));
  PutOne(*store, NumberedKey(5), NumberedBlob(5, 200'000));
  EXPECT_EQ(store->counters().put_errors, 1u);
  EXPECT_THAT(store->TakeWarnings(), ElementsAre(AllOf(HasSubstr("pinned models"), HasSubstr("HEARTH_CACHE_MAX_SIZE"),
                                                       HasSubstr("raise its limit"))));
}

}  // namespace
}  // namespace hearth
