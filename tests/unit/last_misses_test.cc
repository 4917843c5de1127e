// The record of what the last starts missed.
#include "cache/store/last_misses.h"

#include <gtest/gtest.h>

#include <string>

#include "cache/desk/reports.h"
#include "core/base/text.h"
#include "tests/testing/cache_folder.h"

namespace hearth {
namespace {

using testing::CacheFolder;

constexpr std::string_view kBlob = "bytes";

CacheKey KeyFor(const std::string& driver, int number) {
  CacheKey key(BlobKind::kProgram);
  key.Add("device", "a device").Add("driver", driver).Add("kernel", "k" + std::to_string(number));
  return key;
}

void Start(const CacheFolder& folder, const std::string& driver, int first, int count, const char* rejected = nullptr) {
  auto options = folder.options();
  options.model = {"f00d", "/models/a"};
  const auto store = CacheFolder::Open(options);
  for (int number = first; number < first + count; ++number) {
    const CacheKey key = KeyFor(driver, number);
    if (store->Get(key)) {
      if (rejected == nullptr) continue;
      store->Reject(key, rejected);
    }
    testing::PutOne(*store, key, std::vector<std::byte>(BytesOf(kBlob).begin(), BytesOf(kBlob).end()));
  }
}

TEST(LastMisses, HaveTheReasonThatHeldBeforeTheEntryWasStored) {
  const CacheFolder folder;
  Start(folder, "1", 0, 1);
  auto misses = ListLastMisses(folder.path());
  ASSERT_TRUE(misses.ok()) << misses.status().message();
  ASSERT_EQ(misses->size(), 1u);
  EXPECT_EQ(misses->front().reason, "not in the cache");
  EXPECT_EQ(misses->front().model_path, "/models/a");
  EXPECT_EQ(misses->front().model_fingerprint, "f00d");
  EXPECT_EQ(misses->front().device, "a device");
  EXPECT_EQ(misses->front().kind, "program");
  EXPECT_EQ(misses->front().name, "k0");
  EXPECT_GT(misses->front().when_ms, 0);
  Start(folder, "1", 0, 1);  // warm
  EXPECT_EQ(ListLastMisses(folder.path())->size(), 1u);
  Start(folder, "2", 0, 1);
  misses = ListLastMisses(folder.path());
  ASSERT_EQ(misses->size(), 2u);
  EXPECT_EQ(misses->front().reason, "another driver version: 1 -> 2");
  Start(folder, "2", 0, 1, "the driver refuses it");
  misses = ListLastMisses(folder.path());
  ASSERT_EQ(misses->size(), 3u);
  EXPECT_EQ(misses->front().reason, "rejected: the driver refuses it");
}

TEST(LastMisses, AreBoundedAndCleared) {
  const CacheFolder folder;
  Start(folder, "1", 0, 70);
  Start(folder, "1", 70, 3);
  const auto misses = ListLastMisses(folder.path());
  ASSERT_TRUE(misses.ok()) << misses.status().message();
  ASSERT_EQ(misses->size(), kMostLastMisses);
  EXPECT_EQ(misses->front().name, "k70");
  EXPECT_EQ((*misses)[3].name, "k0");
  ASSERT_TRUE(ClearStore(folder.path()).ok());
  EXPECT_TRUE(ListLastMisses(folder.path())->empty());
}

TEST(LastMisses, ARecordOfAnythingIsReadAsFarAsItGoes) {
  const CacheFolder folder;
  Start(folder, "1", 0, 2);
  const auto damage = [&](const std::string& value) {
    auto database = Database::Open(folder.file(), Database::Access::kReadWrite);
    ASSERT_TRUE(database.ok()) << database.status().message();
    const Status status = database->Run("UPDATE counters SET value=" + value + " WHERE name='last_misses'");
    ASSERT_TRUE(status.ok()) << status.message();
  };
  damage("substr(value, 1, length(value) - 1)");
  EXPECT_EQ(ListLastMisses(folder.path())->size(), 1u);
  for (const char* value : {"x''", "x'01'", "x'02'", "x'01ffffffffffffffffffff'", "zeroblob(100000)", "7", "'text'",
                            "x'01' || zeroblob(100000)"}) {
    damage(value);
    const auto misses = ListLastMisses(folder.path());
    ASSERT_TRUE(misses.ok()) << misses.status().message();
    EXPECT_LE(misses->size(), kMostLastMisses) << value;
  }
  Start(folder, "1", 5, 1);  // written anew
  EXPECT_EQ(ListLastMisses(folder.path())->front().name, "k5");
}

}  // namespace
}  // namespace hearth
