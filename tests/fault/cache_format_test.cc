// Hearths of different formats in one folder, and clocks, logs and journals that somebody changed.
#include <sys/time.h>
#include <utime.h>

#include "cache/desk/reports.h"
#include "cache/files/database.h"
#include "tests/testing/cache_folder.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;
using testing::CacheFolder;
using testing::NumberedBlob;
using testing::NumberedKey;
using testing::PutOne;

void Tamper(const fs::path& file, const std::string& sql) {
  Result<Database> database = Database::Open(file, Database::Access::kReadWrite);
  ASSERT_TRUE(database.ok()) << database.status().message();
  const Status status = database->Run(sql);
  ASSERT_TRUE(status.ok()) << status.message();
}

// What the header holds for a format (FormatStamp in store_file.cc).
void SetFormat(const fs::path& file, int format) {
  Tamper(file, "PRAGMA user_version=" + std::to_string((~format & 0x7fff) << 16 | format));
}

TEST(CacheFormats, AnOlderStoreIsRenamedWithoutAWordAndNotRead) {
  const CacheFolder folder;
  PutOne(*folder.Open(), NumberedKey(1), NumberedBlob(1, 100));
  SetFormat(folder.file(), 1);
  const auto store = folder.Open();
  ASSERT_NE(store, nullptr);
  EXPECT_FALSE(store->Get(NumberedKey(1)));
  PutOne(*store, NumberedKey(2), NumberedBlob(2, 100));
  EXPECT_TRUE(store->TakeWarnings().empty()) << "an update is not damage";
  EXPECT_EQ(store->file(), folder.file());
  EXPECT_TRUE(fs::exists(folder.path() / "hearth-1.db"));
  EXPECT_FALSE(fs::exists(folder.file().string() + ".damaged"));
  EXPECT_GT(ReadStoreStats(folder.path())->other_formats_bytes, 0u);
}

TEST(CacheFormats, BesideANewerStoreThisOneHasAFileOfItsOwn) {
  const CacheFolder folder;
  folder.Open().reset();
  SetFormat(folder.file(), 99);
  const std::string newer = testing::ReadFile(folder.file());
  {
    const auto store = folder.Open();
    ASSERT_NE(store, nullptr);
    PutOne(*store, NumberedKey(1), NumberedBlob(1, 100));
    EXPECT_TRUE(store->TakeWarnings().empty());
  }
  EXPECT_TRUE(folder.Open()->Get(NumberedKey(1)));
  EXPECT_EQ(ListEntries(folder.path())->size(), 1u);
  EXPECT_TRUE(VerifyStore(folder.path(), true)->clean());
  EXPECT_EQ(testing::ReadFile(folder.file()), newer);
  ASSERT_EQ(ClearStore(folder.path())->entries, 1u);
  EXPECT_EQ(ListEntries(folder.path())->size(), 0u);
}

TEST(CacheFormats, ARepairBesideANewerStoreMovesOnlyTheDamagedFileAside) {
  const CacheFolder folder;
  folder.Open().reset();
  SetFormat(folder.file(), 99);
  PutOne(*folder.Open(), NumberedKey(1), NumberedBlob(1, 100));
  const std::string newer = testing::ReadFile(folder.file());
  const fs::path own = folder.path() / "hearth-4.db";
  testing::WriteFile(own, std::string(100'000, 'x'));
  EXPECT_TRUE(VerifyStore(folder.path(), true)->repaired);
  EXPECT_EQ(testing::ReadFile(folder.file()), newer);
  EXPECT_FALSE(fs::exists(own));
  EXPECT_TRUE(VerifyStore(folder.path(), false)->clean());
}

TEST(CacheFormats, AStoreOfAnotherFormatThatNobodyWroteToForAWeekGoes) {
  const CacheFolder folder;
  testing::WriteFile(folder.path() / "hearth-1.db", "old");
  testing::WriteFile(folder.path() / "hearth-1.db-wal", "old");
  testing::WriteFile(folder.path() / "hearth-77.db", "young");
  const std::time_t long_ago = std::time(nullptr) - 8 * 24 * 60 * 60;
  for (const char* name : {"hearth-1.db", "hearth-1.db-wal"}) {
    const utimbuf times = {long_ago, long_ago};
    ASSERT_EQ(::utime((folder.path() / name).c_str(), &times), 0);
  }
  folder.Open().reset();
  EXPECT_FALSE(fs::exists(folder.path() / "hearth-1.db"));
  EXPECT_FALSE(fs::exists(folder.path() / "hearth-1.db-wal"));
  EXPECT_TRUE(fs::exists(folder.path() / "hearth-77.db"));
}

TEST(CacheFormats, AStampFromTheFutureDoesNotKeepAnEntryForEver) {
  const CacheFolder folder;
  StoreOptions options = folder.options();
  options.max_bytes = 1 << 20;
  PutOne(*folder.Open(options), NumberedKey(0), NumberedBlob(0, 300000));
  Tamper(folder.file(), "UPDATE entries SET last_used_ms=9000000000000000, created_ms=1000");
  PutOne(*folder.Open(options), NumberedKey(1), NumberedBlob(1, 300000));
  PutOne(*folder.Open(options), NumberedKey(2), NumberedBlob(2, 300000));
  const auto store = folder.Open(options);
  EXPECT_FALSE(store->Get(NumberedKey(0)));
  EXPECT_TRUE(store->Get(NumberedKey(1)));
  EXPECT_TRUE(store->Get(NumberedKey(2)));
}

TEST(CacheFormats, AChangedJournalModeIsRestored) {
  const CacheFolder folder;
  PutOne(*folder.Open(), NumberedKey(1), NumberedBlob(1, 100));
  Tamper(folder.file(), "PRAGMA journal_mode=DELETE");
  EXPECT_TRUE(folder.Open()->Get(NumberedKey(1)));
  auto database = Database::Open(folder.file(), Database::Access::kReadWrite);
  EXPECT_EQ(database->Text("PRAGMA journal_mode").value(), "wal");
}

TEST(CacheFormats, TheLogCountsAgainstTheLimit) {
  const CacheFolder folder;
  StoreOptions options = folder.options();
  options.max_bytes = 2 << 20;
  const auto other = folder.Open(options);  // keeps the log from being removed at close
  for (int number = 0; number < 40; ++number) {
    PutOne(*folder.Open(options), NumberedKey(number), NumberedBlob(number, 100000));
    const uint64_t log_bytes = fs::file_size(folder.file().string() + "-wal");
    EXPECT_LE(fs::file_size(folder.file()) + log_bytes, options.max_bytes) << "after " << number;
  }
}

}  // namespace
}  // namespace hearth
