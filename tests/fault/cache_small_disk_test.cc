// A disk that has not room for all that a start makes: a part of it is kept for the next one.
#include <gmock/gmock.h>

#include "cache/desk/reports.h"
#include "tests/testing/cache_folder.h"
#include "tests/testing/small_disk.h"

namespace hearth {
namespace {

using testing::CacheFolder;
using testing::NumberedBlob;
using testing::NumberedKey;
using testing::PutOne;
using testing::SmallDisk;

constexpr int kEntriesOfAStart = 25;
constexpr size_t kEntryBytes = 30'000;

// Stores what it does not find, later entries being worth more. Returns the number of hits.
int StartWith(testing::TestCache& store) {
  int hits = 0;
  const PutBatch batch(&store);
  for (int number = 0; number < kEntriesOfAStart; ++number) {
    const auto found = store.Get(NumberedKey(number));
    if (found) {
      EXPECT_EQ(*found, NumberedBlob(number, kEntryBytes));
      ++hits;
      continue;
    }
    PutOne(store, NumberedKey(number), NumberedBlob(number, kEntryBytes), number + 1);
  }
  return hits;
}

TEST(CacheOnASmallDisk, WhatIsWorthMostIsKeptAndTheLogIsEmptied) {
  const SmallDisk disk("700k");
  SKIP_WITHOUT_MOUNTING(disk);
  {
    const auto store = CacheFolder::Open(disk.options());
    ASSERT_NE(store, nullptr);
    EXPECT_EQ(StartWith(*store), 0);
    EXPECT_LT(store->counters().put_errors, static_cast<uint64_t>(kEntriesOfAStart));
    EXPECT_THAT(store->TakeWarnings(), ::testing::ElementsAre(::testing::HasSubstr("full")));
    std::error_code error;
    EXPECT_EQ(std::filesystem::file_size(disk.folder() / "hearth.db-wal", error), 0u);
  }
  const auto store = CacheFolder::Open(disk.options());
  ASSERT_NE(store, nullptr);
  EXPECT_TRUE(store->Get(NumberedKey(kEntriesOfAStart - 1)));
  EXPECT_FALSE(store->Get(NumberedKey(0)));
  EXPECT_GE(StartWith(*store), 3);
  EXPECT_TRUE(VerifyStore(disk.folder(), false)->clean());
}

}  // namespace
}  // namespace hearth
