// A cache on a file system that can't be written to, and one that never had room.
#include <gmock/gmock.h>

#include "cache/desk/reports.h"
#include "cache/files/database.h"
#include "cache/sources/layer.h"
#include "tests/testing/small_disk.h"

namespace hearth {
namespace {

using ::testing::AllOf;
using testing::CacheFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::NumberedBlob;
using testing::NumberedKey;
using testing::PutOne;
using testing::SmallDisk;

TEST(CacheOnAReadOnlyFileSystem, WhatItHoldsIsUsed) {
  const SmallDisk disk;
  SKIP_WITHOUT_MOUNTING(disk);
  disk.PutSix();
  ASSERT_TRUE(disk.MakeReadOnly());
  EXPECT_THAT(disk.WarningOfASeventh(), AllOf(HasSubstr("can't be written"), Not(HasSubstr("disk is full"))));
}

TEST(CacheOnAReadOnlyFileSystem, AStoreWhoseLogWasLeftIsReadUpToItsLastCheckpoint) {
  const SmallDisk disk;
  SKIP_WITHOUT_MOUNTING(disk);
  disk.PutSix();
  CacheFolder::Open(disk.options())->Get(NumberedKey(0));  // leaves its counters in the log
  ASSERT_TRUE(disk.MakeReadOnly());
  const auto store = CacheFolder::Open(disk.options());
  ASSERT_NE(store, nullptr);
  for (int number = 0; number < 6; ++number) EXPECT_EQ(store->Get(NumberedKey(number)), NumberedBlob(number, 40000));
}

TEST(CacheOnAReadOnlyFileSystem, ReportsWorkAndWhatDeletesSaysWhyNot) {
  const SmallDisk disk;
  SKIP_WITHOUT_MOUNTING(disk);
  disk.PutSix();
  ASSERT_TRUE(disk.MakeReadOnly());
  EXPECT_EQ(ListEntries(disk.folder())->size(), 6u);
  EXPECT_TRUE(VerifyStore(disk.folder(), false)->clean());
  CacheFilter programs{.kind = "program"};
  for (const Status& status : {ClearStore(disk.folder()).status(), ClearStore(disk.folder(), programs).status(),
                               PruneStore(disk.folder(), 1000).status(), LiftQuarantine(disk.folder()).status(),
                               SetPinned(disk.folder(), "model", true), RemoveModel(disk.folder(), "model").status()}) {
    EXPECT_EQ(status.code(), StatusCode::kIoError) << status.message();
    EXPECT_THAT(status.message(), HasSubstr("ead-only file system"));
    EXPECT_THAT(status.message(), HasSubstr(disk.folder().string()));
  }
  EXPECT_EQ(ListEntries(disk.folder())->size(), 6u);
}

TEST(CacheOnAReadOnlyFileSystem, ARepairSaysWhyItCanNotBeMade) {
  const SmallDisk disk;
  SKIP_WITHOUT_MOUNTING(disk);
  disk.PutSix();
  {
    auto database = Database::Open(disk.folder() / kStoreFileName, Database::Access::kReadWrite);
    ASSERT_TRUE(database.ok() && database->Run("UPDATE entries SET size_bytes=1 WHERE id=1").ok());
  }
  ASSERT_TRUE(disk.MakeReadOnly());
  EXPECT_EQ(VerifyStore(disk.folder(), false)->damages.size(), 1u);
  const Status status = VerifyStore(disk.folder(), true).status();
  EXPECT_THAT(status.message(), AllOf(HasSubstr("nothing can be changed in"), HasSubstr("ead-only file system")));
}

TEST(CacheOnAReadOnlyFileSystem, AFolderWithoutAStoreIsNoCacheWithASentence) {
  const SmallDisk disk;
  SKIP_WITHOUT_MOUNTING(disk);
  ASSERT_TRUE(disk.MakeReadOnly());
  for (const auto& folder : {disk.folder(), disk.folder() / "new"}) {
    StoreOptions options{.folder = folder};
    const auto store = testing::StoreCache::Open(options);
    ASSERT_FALSE(store.ok());
    EXPECT_THAT(store.status().message(), HasSubstr("ead-only file system"));
  }
}

TEST(CacheOnAReadOnlyFileSystem, ALayerIsUsed) {
  const SmallDisk disk;
  SKIP_WITHOUT_MOUNTING(disk);
  disk.PutSix();
  ASSERT_TRUE(disk.MakeReadOnly());
  auto source = OpenLayer({disk.folder(), {}, true});
  ASSERT_TRUE(source.ok()) << source.status().message();
  const auto layer = testing::WithLayer(std::move(*source));
  EXPECT_EQ(layer->Get(NumberedKey(3)), NumberedBlob(3, 40000));
  EXPECT_THAT(layer->TakeWarnings(), ElementsAre());
}

TEST(CacheOnAFullDisk, WithoutAStoreIsNoCacheWithASentence) {
  const SmallDisk disk;
  SKIP_WITHOUT_MOUNTING(disk);
  disk.FillUp();
  const auto store = testing::StoreCache::Open(disk.options());
  ASSERT_FALSE(store.ok());
  EXPECT_THAT(store.status().message(), HasSubstr("full"));
}

}  // namespace
}  // namespace hearth
