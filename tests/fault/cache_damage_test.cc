// Files that are not what the store wrote: right bytes or nothing, never a crash.
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/desk/reports.h"
#include "cache/files/database.h"
#include "core/base/text.h"
#include "tests/testing/cache_folder.h"
#include "tests/testing/sample.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;
using testing::CacheFolder;
using testing::NumberedBlob;
using testing::NumberedKey;
using testing::PutOne;
using testing::ReadFile;
using testing::WriteFile;

constexpr int kEntries = 3;
constexpr size_t kBlobBytes = 600;  // more than a page

// Small pages, so that every byte can be tried; no log, so that all bytes are in one file.
StoreOptions SmallStore(const CacheFolder& folder) {
  StoreOptions options = folder.options();
  options.page_size_bytes = 512;
  options.allow_write_ahead_log = false;
  return options;
}

void Fill(const StoreOptions& options) {
  const auto store = CacheFolder::Open(options);
  for (int number = 0; number < kEntries; ++number)
    PutOne(*store, NumberedKey(number), NumberedBlob(number, kBlobBytes));
}

struct Outcome {
  int right = 0, wrong = 0;
};

// What a session gets out of the file as it lies there.
Outcome Look(const StoreOptions& options) {
  Outcome outcome;
  const auto store = testing::StoreCache::Open(options);
  if (!store.ok()) return outcome;
  for (int number = 0; number < kEntries; ++number) {
    const auto found = (*store)->Get(NumberedKey(number));
    if (!found) continue;
    ++(*found == NumberedBlob(number, kBlobBytes) ? outcome.right : outcome.wrong);
  }
  return outcome;
}

// Puts `bytes` in place of the store, without the traces of earlier rounds.
void Plant(const CacheFolder& folder, const std::string& bytes) {
  for (const char* suffix : {"", "-wal", "-shm", "-journal", ".damaged"})
    ::unlink((folder.file().string() + suffix).c_str());
  WriteFile(folder.file(), bytes);
}

// The store with one bit of the second entry's blob flipped.
std::string DamagedInABlob(const CacheFolder& folder) {
  std::string bytes = ReadFile(folder.file());
  const auto blob = NumberedBlob(2, kBlobBytes);
  const size_t position = bytes.find(TextFrom(blob).substr(300, 50));
  EXPECT_NE(position, std::string::npos);
  if (position != std::string::npos) bytes[position] ^= 1;
  return bytes;
}

TEST(CacheDamage, NoFlippedByteEverComesBackAsAHit) {
  const CacheFolder folder;
  const StoreOptions options = SmallStore(folder);
  Fill(options);
  const std::string sound = ReadFile(folder.file());
  ASSERT_EQ(Look(options).right, kEntries);
  StoreOptions only_reading = options;
  only_reading.read_only = true;
  int rounds = 0, rounds_with_a_loss = 0;
  for (size_t position = 0; position < sound.size(); ++position) {
    if (!testing::IsInSanitizersSample(position, 3)) continue;
    ++rounds;
    std::string flipped = sound;
    flipped[position] = static_cast<char>(~flipped[position]);
    Plant(folder, flipped);
    const Outcome outcome = Look(only_reading);
    ASSERT_EQ(outcome.wrong, 0) << "byte " << position;
    rounds_with_a_loss += outcome.right < kEntries;
    if (position % 5 != 0) continue;
    ASSERT_EQ(Look(options).wrong, 0) << "byte " << position << ", healing";
  }
  const auto blobs_share = double{kEntries} * kBlobBytes / static_cast<double>(sound.size());
  EXPECT_GT(rounds_with_a_loss, blobs_share * rounds) << "the flips did not reach the blobs";
}

// A start: looks everything up and stores what is missing. How many that were.
int FillWhatIsMissing(const StoreOptions& options) {
  const auto store = testing::StoreCache::Open(options);
  if (!store.ok()) return kEntries;
  int missing = 0;
  for (int number = 0; number < kEntries; ++number) {
    if ((*store)->Get(NumberedKey(number))) continue;
    ++missing;
    PutOne(**store, NumberedKey(number), NumberedBlob(number, kBlobBytes));
  }
  return missing;
}

// The header says how sqlite is to read and write the file, and of which format it is: a wrong value there must not
// leave a store that opens for nobody or is never written again.
TEST(CacheDamage, NoFlippedBitOfTheHeaderKeepsTheStoreFromWorkingAgain) {
  const CacheFolder folder;
  const StoreOptions options = SmallStore(folder);
  Fill(options);
  const std::string sound = ReadFile(folder.file());
  for (size_t bit = 0; bit < 8 * 100; ++bit) {
    if (!testing::IsInSanitizersSample(bit, 5)) continue;
    std::string flipped = sound;
    flipped[bit / 8] ^= static_cast<char>(1u << bit % 8);
    Plant(folder, flipped);
    {
      auto database = Database::Open(folder.file(), Database::Access::kReadWrite);
      // What was stored is lost as well, so that a store that is only read shows.
      if (database.ok()) static_cast<void>(database->Run("DELETE FROM entries; DELETE FROM blobs"));
    }
    FillWhatIsMissing(options);
    ASSERT_EQ(FillWhatIsMissing(options), 0) << "byte " << bit / 8 << ", bit " << bit % 8;
  }
}

TEST(CacheDamage, ARowInTheWayOfAnEntryStartsTheStoreAnew) {
  const CacheFolder folder;
  const StoreOptions options = SmallStore(folder);
  Fill(options);
  {
    auto database = Database::Open(folder.file(), Database::Access::kReadWrite);
    ASSERT_TRUE(database.ok());
    ASSERT_TRUE(database->Run("INSERT INTO blobs SELECT max(id) + 1, x'00' FROM entries").ok());
  }
  const auto store = CacheFolder::Open(options);
  ASSERT_NE(store, nullptr);
  PutOne(*store, NumberedKey(100), NumberedBlob(100, kBlobBytes));
  EXPECT_TRUE(store->Get(NumberedKey(100)).has_value());
  EXPECT_EQ(store->TakeWarnings().size(), 1u);
}

TEST(CacheDamage, ADamagedBlobMakesTheWholeFileSuspectAndOnlyAnUnsoundOneIsGivenUp) {
  const CacheFolder folder;
  const StoreOptions options = SmallStore(folder);
  Fill(options);
  std::string bytes = DamagedInABlob(folder);
  Plant(folder, bytes);
  EXPECT_EQ(Look(options).right, kEntries - 1);
  EXPECT_FALSE(fs::exists(folder.file().string() + ".damaged"));
  EXPECT_EQ(Look(options).right, kEntries - 1) << "the others were to stay";

  std::fill_n(bytes.begin() + 512, 512, '\0');  // the map of the pages: a look-up never reads it
  Plant(folder, bytes);
  EXPECT_EQ(Look(options).right, kEntries - 1);
  EXPECT_TRUE(fs::exists(folder.file().string() + ".damaged"));
}

TEST(CacheDamage, AFileCutAtAnyPageIsReadAsFarAsItIsRightAndTakesNewEntries) {
  const CacheFolder folder;
  const StoreOptions options = SmallStore(folder);
  Fill(options);
  const std::string sound = ReadFile(folder.file());
  for (size_t size = 0; size < sound.size(); size += 256) {
    Plant(folder, sound.substr(0, size));
    ASSERT_EQ(Look(options).wrong, 0) << size;
    const auto store = CacheFolder::Open(options);
    ASSERT_NE(store, nullptr);
    PutOne(*store, NumberedKey(100), NumberedBlob(100, kBlobBytes));
    EXPECT_TRUE(store->Get(NumberedKey(100)).has_value()) << size;
  }
}

TEST(CacheDamage, ADamagedWriteAheadLogCostsAtMostWhatItHeld) {
  const CacheFolder folder;
  StoreOptions options = SmallStore(folder);
  options.allow_write_ahead_log = true;
  Fill(options);
  CacheFolder::Open(options)->Get(NumberedKey(0));  // leaves its counters in the log
  const std::string log_file = folder.file().string() + "-wal";
  const std::string sound = ReadFile(folder.file()), log = ReadFile(log_file);
  ASSERT_FALSE(log.empty());
  for (size_t position = 0; position < log.size(); position += 13) {
    std::string flipped = log;
    flipped[position] = static_cast<char>(~flipped[position]);
    Plant(folder, sound);
    WriteFile(log_file, flipped);
    ASSERT_EQ(Look(options).right, kEntries) << position;
  }
}

TEST(CacheDamage, SomethingThatIsNoDatabaseIsKeptAsideAndAFreshStoreBegun) {
  const CacheFolder folder;
  WriteFile(folder.file(), std::string(5000, 'x'));
  {
    const auto store = folder.Open();
    ASSERT_NE(store, nullptr);
    EXPECT_EQ(store->TakeWarnings().size(), 1u);
    PutOne(*store, NumberedKey(1), NumberedBlob(1, 100));
  }
  EXPECT_EQ(ReadFile(folder.file().string() + ".damaged"), std::string(5000, 'x'));
  const auto store = folder.Open();
  EXPECT_TRUE(store->Get(NumberedKey(1)).has_value());
  EXPECT_TRUE(store->TakeWarnings().empty());
}

TEST(CacheDamage, WarningsQuoteNoBytesOfADamagedFile) {
  const CacheFolder folder;
  Fill(SmallStore(folder));
  std::string bytes = ReadFile(folder.file());
  const size_t name = bytes.find("quarantine(");
  ASSERT_NE(name, std::string::npos);
  bytes.replace(name, 4, "\x1b\x95(\n");
  Plant(folder, bytes);
  const auto warnings = CacheFolder::Open(SmallStore(folder))->TakeWarnings();
  ASSERT_EQ(warnings.size(), 1u);
  for (const char c : warnings[0]) EXPECT_TRUE(c >= ' ' && c <= '~') << warnings[0];
}

TEST(CacheDamage, TheLogOfADamagedFileIsNotReplayedIntoTheFreshOne) {
  const CacheFolder folder;
  const fs::path log = folder.file().string() + "-wal";
  PutOne(*folder.Open(), NumberedKey(1), NumberedBlob(1, 100));
  folder.Open()->Get(NumberedKey(1));  // leaves its counters in the log
  ASSERT_GT(fs::file_size(log), 0u);
  const std::string old_log = ReadFile(log);
  WriteFile(folder.file(), std::string(5000, 'x'));
  folder.Open().reset();
  EXPECT_TRUE(!fs::exists(log) || ReadFile(log) != old_log);
  EXPECT_TRUE(ListEntries(folder.path())->empty());
  EXPECT_EQ(ReadStoreStats(folder.path())->lifetime.hits, 0u);
  EXPECT_TRUE(VerifyStore(folder.path(), false)->clean());
}

TEST(CacheDamage, AForeignDatabaseKeepsItsLogWhereItIsMovedTo) {
  const CacheFolder folder;
  {
    WriteFile(folder.file(), "");
    auto foreign = Database::Open(folder.file(), Database::Access::kReadWrite);
    ASSERT_TRUE(foreign.ok() && foreign->Run("PRAGMA journal_mode=WAL; CREATE TABLE precious(x)").ok());
    ASSERT_TRUE(foreign->Run("INSERT INTO precious VALUES(42)").ok());  // in the log alone
    folder.Open().reset();
  }
  auto moved = Database::Open(folder.file().string() + ".damaged", Database::Access::kReadWrite);
  ASSERT_TRUE(moved.ok());
  EXPECT_EQ(moved->Number("SELECT x FROM precious").value(), 42);
}

TEST(CacheDamage, AnEntryOfAWrongSizeIsRejectedOnceAndTold) {
  const CacheFolder folder;
  PutOne(*folder.Open(), NumberedKey(1), NumberedBlob(1, 100));
  {
    auto database = Database::Open(folder.file(), Database::Access::kReadWrite);
    ASSERT_TRUE(database.ok() && database->Run("UPDATE entries SET size_bytes=99").ok());
  }
  const auto store = folder.Open();
  for (int look_up = 0; look_up < 3; ++look_up) EXPECT_FALSE(store->Get(NumberedKey(1)).has_value());
  EXPECT_EQ(store->counters().rejected, 1u);
  EXPECT_EQ(store->TakeWarnings().size(), 1u);
  EXPECT_FALSE(store->TakeTurn(NumberedKey(1)).has_waited) << "there is nothing to ask for again";
}

TEST(CacheDamage, ADamagedCopyIsCountedMakesRoomFirstAndIsCleared) {
  const CacheFolder folder;
  WriteFile(folder.file(), std::string(500000, 'x'));
  StoreOptions options = folder.options();
  options.max_bytes = 1 << 20;
  PutOne(*CacheFolder::Open(options), NumberedKey(1), NumberedBlob(1, 10000));
  EXPECT_EQ(ReadStoreStats(folder.path())->damaged_bytes, 500000u);
  PutOne(*CacheFolder::Open(options), NumberedKey(2), NumberedBlob(2, 500000));
  EXPECT_EQ(ReadStoreStats(folder.path())->damaged_bytes, 0u);
  EXPECT_TRUE(CacheFolder::Open(options)->Get(NumberedKey(1)).has_value());
  WriteFile(folder.file().string() + ".damaged", "x");
  ASSERT_TRUE(ClearStore(folder.path()).ok());
  EXPECT_EQ(ReadStoreStats(folder.path())->damaged_bytes, 0u);
}

TEST(CacheDamage, AnEntryLargerThanSqliteTakesIsLeftOutAndTheOthersAreStored) {
  const CacheFolder folder;
  constexpr size_t kTooLarge = 1000000001;
  void* memory = ::mmap(nullptr, kTooLarge, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  const auto store = folder.Open();
  PutOne(*store, NumberedKey(1), NumberedBlob(1, 100));
  const CacheKey large = NumberedKey(2), small = NumberedKey(3);
  const auto bytes = NumberedBlob(3, 100);
  const testing::PutRequest requests[] = {{&large, {static_cast<const std::byte*>(memory), kTooLarge}, 0},
                                          {&small, bytes, 0}};
  store->Put(requests);
  ::munmap(memory, kTooLarge);
  EXPECT_EQ(store->counters().put_errors, 1u);
  const auto warnings = store->TakeWarnings();
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("1000000001 bytes"), std::string::npos) << warnings[0];
  EXPECT_TRUE(store->Get(NumberedKey(1)) && store->Get(NumberedKey(3)));
  EXPECT_FALSE(fs::exists(folder.file().string() + ".damaged"));
}

TEST(CacheDamage, AStoreWhoseTablesAreGoneStartsAnew) {
  const CacheFolder folder;
  folder.Open().reset();
  {
    auto database = Database::Open(folder.file(), Database::Access::kReadWrite);
    ASSERT_TRUE(database.ok() && database->Run("DROP TABLE blobs").ok());
  }
  const auto store = folder.Open();
  ASSERT_NE(store, nullptr);
  PutOne(*store, NumberedKey(1), NumberedBlob(1, 100));
  EXPECT_TRUE(store->Get(NumberedKey(1)).has_value());
}

TEST(CacheDamage, DamageMetInTheMiddleOfASessionHealsWithinIt) {
  const CacheFolder folder;
  const StoreOptions options = SmallStore(folder);
  Fill(options);
  std::string spoilt = ReadFile(folder.file());
  std::fill(spoilt.begin() + 3072, spoilt.end(), '\x55');  // behind the tables' definitions
  Plant(folder, spoilt);
  const auto store = CacheFolder::Open(options);
  ASSERT_NE(store, nullptr);
  for (int number = 0; number < kEntries; ++number) EXPECT_FALSE(store->Get(NumberedKey(number)).has_value());
  PutOne(*store, NumberedKey(1), NumberedBlob(1, 100));
  EXPECT_TRUE(store->Get(NumberedKey(1)).has_value());
  EXPECT_EQ(store->TakeWarnings().size(), 1u);
  EXPECT_TRUE(fs::exists(folder.file().string() + ".damaged"));
}

TEST(CacheDamage, VerifyFindsADamagedBlobAndRepairRemovesOnlyIt) {
  const CacheFolder folder;
  const StoreOptions options = SmallStore(folder);
  Fill(options);
  ASSERT_TRUE(VerifyStore(folder.path(), false)->clean());
  Plant(folder, DamagedInABlob(folder));
  auto report = VerifyStore(folder.path(), false);
  ASSERT_TRUE(report.ok());
  ASSERT_EQ(report->damages.size(), 1u);
  EXPECT_EQ(report->damages[0].where, NumberedKey(2).digest().ToHex());
  EXPECT_EQ(report->checked_entries, static_cast<uint64_t>(kEntries));
  EXPECT_TRUE(VerifyStore(folder.path(), true)->repaired);
  EXPECT_TRUE(VerifyStore(folder.path(), false)->clean());
  EXPECT_EQ(Look(options).right, kEntries - 1);
}

TEST(CacheDamage, VerifyNamesAFileThatIsNoDatabaseAndRepairMovesItAside) {
  const CacheFolder folder;
  WriteFile(folder.file(), std::string(5000, 'x'));
  const auto report = VerifyStore(folder.path(), false);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_FALSE(report->clean());
  EXPECT_TRUE(fs::exists(folder.file()));
  EXPECT_TRUE(VerifyStore(folder.path(), true)->repaired);
  EXPECT_TRUE(VerifyStore(folder.path(), false)->clean());
}

TEST(CacheDamage, RepairMovesAsideTheFileInThePrivateFolderOfAFolderForAll) {
  const CacheFolder folder;
  ASSERT_EQ(::chmod(folder.path().c_str(), 01777), 0);
  const auto own = PrepareFolder(folder.path());
  ASSERT_TRUE(own.ok()) << own.status().message();
  WriteFile(*own / folder.file().filename(), std::string(5000, 'x'));
  EXPECT_TRUE(VerifyStore(folder.path(), true)->repaired);
  EXPECT_TRUE(VerifyStore(folder.path(), false)->clean());
}

}  // namespace
}  // namespace hearth
