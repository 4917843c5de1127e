// Stores whose pages lead to the same pages again and again: twelve levels of them make more rows than anybody can
// read, and sqlite notices nothing. Whoever reads such a file must end, and say that it is damaged.
#include <gmock/gmock.h>

#include <string_view>

#include "cache/desk/bundle.h"
#include "cache/desk/reports.h"
#include "cache/files/database.h"
#include "tests/testing/cache_folder.h"

namespace hearth {
namespace {

using ::testing::AllOf;
using testing::CacheFolder;
using ::testing::HasSubstr;
using testing::NumberedBlob;
using testing::NumberedKey;
using testing::PutOne;
using testing::ReadFile;
using testing::WriteFile;

constexpr size_t kPageBytes = 512, kInteriorHeaderBytes = 12;
constexpr int kLevels = 12;
// sqlite's kinds of pages.
constexpr char kInteriorIndex = 2, kInteriorTable = 5, kLeafTable = 13;

// As the file has numbers: the highest byte first.
std::string BigEndian(size_t number, size_t bytes) {
  std::string text;
  for (size_t k = bytes; k-- > 0;) text += static_cast<char>(number >> (8 * k) & 0xff);
  return text;
}

// What follows the child's number in a cell of an interior page above `leaf`: its first key.
std::string FirstKeyOf(const std::string& leaf) {
  if (leaf[0] == kLeafTable) return "\x01";
  const size_t cell = static_cast<uint8_t>(leaf[8]) << 8 | static_cast<uint8_t>(leaf[9]);
  return leaf.substr(cell, 1 + static_cast<uint8_t>(leaf[cell]));
}

// An interior page that is full of pointers to one page.
std::string PageOf(char kind, const std::string& key, size_t child) {
  const std::string cell = BigEndian(child, 4) + key;
  const size_t cells = (kPageBytes - kInteriorHeaderBytes) / (2 + cell.size()),
               begin = kPageBytes - cells * cell.size();
  std::string page =
      kind + BigEndian(0, 2) + BigEndian(cells, 2) + BigEndian(begin, 2) + BigEndian(0, 1) + BigEndian(child, 4);
  for (size_t k = 0; k < cells; ++k) page += BigEndian(begin + k * cell.size(), 2);
  page.resize(begin);
  for (size_t k = 0; k < cells; ++k) page += cell;
  return page;
}

// Puts the levels between the root of a tree and its only leaf.
void MakeEndless(const CacheFolder& folder, const std::string& tree) {
  auto database = Database::Open(folder.file(), Database::Access::kReadOnly);
  ASSERT_TRUE(database.ok());
  const auto root = database->Number(fmt::format("SELECT rootpage FROM sqlite_schema WHERE name='{}'", tree));
  ASSERT_TRUE(root.ok() && *root > 1) << tree;
  database = Status(StatusCode::kNotFound, "closed");
  std::string file = ReadFile(folder.file());
  const size_t root_at = (static_cast<size_t>(*root) - 1) * kPageBytes;
  const std::string leaf = file.substr(root_at, kPageBytes);
  ASSERT_GE(leaf[0], 10) << tree << " has more than a leaf";
  const char kind = leaf[0] == kLeafTable ? kInteriorTable : kInteriorIndex;
  file += leaf;
  for (int level = 0; level < kLevels; ++level) file += PageOf(kind, FirstKeyOf(leaf), file.size() / kPageBytes);
  file.replace(root_at, kPageBytes, PageOf(kind, FirstKeyOf(leaf), file.size() / kPageBytes));
  file.replace(28, 4, BigEndian(file.size() / kPageBytes, 4));
  WriteFile(folder.file(), file);
}

// With an entry, a model, and small pages in a file without a log.
testing::OpenOptions OneEntry(const CacheFolder& folder) {
  auto options = folder.options();
  options.page_size_bytes = kPageBytes;
  options.allow_write_ahead_log = false;
  options.model = {std::string(32, 'f'), "/models/a.tflite"};
  PutOne(*CacheFolder::Open(options), NumberedKey(0), NumberedBlob(0, 600));
  return options;
}

TEST(CacheEndless, EveryReportEndsWhicheverTreeLeadsToItselfAgain) {
  for (const char* tree : {"entries", "entries_by_last_use", "blobs", "models", "uses", "uses_by_digest"}) {
    SCOPED_TRACE(tree);
    const CacheFolder folder, parent;
    OneEntry(folder);
    MakeEndless(folder, tree);
    static_cast<void>(ListEntries(folder.path()));
    static_cast<void>(ReadStoreStats(folder.path()));
    static_cast<void>(ListModels(folder.path()));
    static_cast<void>(ListUses(folder.path()));
    static_cast<void>(ListLastMisses(folder.path()));
    static_cast<void>(ExamineCache(folder.path(), uint64_t{1} << 30));
    static_cast<void>(ExportBundle({folder.path(), parent.path() / "bundle.tar", {}, {}, "1"}));
    const auto report = VerifyStore(folder.path(), false);
    ASSERT_TRUE(report.ok()) << report.status().message();
    EXPECT_FALSE(report->clean());
    EXPECT_TRUE(VerifyStore(folder.path(), true)->repaired);
    EXPECT_TRUE(VerifyStore(folder.path(), false)->clean());
  }
}

// So that whoever asked learns what `verify --repair` is for.
TEST(CacheEndless, AReportThatCantEndSaysThatThisFileIsDamaged) {
  const auto expect_damaged = [](const char* tree, const auto& read) {
    const CacheFolder folder;
    OneEntry(folder);
    ASSERT_TRUE(read(folder.path()).ok());
    MakeEndless(folder, tree);
    const Status status = read(folder.path()).status();
    EXPECT_EQ(status.code(), StatusCode::kIoError) << tree;
    EXPECT_THAT(status.message(), AllOf(HasSubstr(folder.file().string()), HasSubstr("it is damaged"),
                                        HasSubstr("hearth cache verify --repair")))
        << tree;
  };
  expect_damaged("entries_by_last_use", [](const auto& folder) { return ListEntries(folder); });
  expect_damaged("entries", ReadStoreStats);
  expect_damaged("models", ListModels);
  expect_damaged("models", ListUses);
}

TEST(CacheEndless, TheDoctorNamesTheRepair) {
  for (const char* tree : {"entries", "entries_by_last_use", "models", "uses_by_digest"}) {
    const CacheFolder folder;
    OneEntry(folder);
    MakeEndless(folder, tree);
    bool is_named = false;
    for (const CacheFinding& finding : ExamineCache(folder.path(), uint64_t{1} << 30)) {
      is_named |= finding.is_trouble && finding.command == "hearth cache verify --repair";
    }
    EXPECT_TRUE(is_named) << tree;
  }
}

// A store in use grows, and keeps its statements: neither may make a sound one seem damaged.
TEST(CacheEndless, AStoreThatGrowsInASessionIsNotTakenForADamagedOne) {
  const CacheFolder folder;
  const auto options = OneEntry(folder);
  const auto store = CacheFolder::Open(options);
  constexpr int kEntries = 200, kRounds = 20;
  for (int number = 0; number < kEntries; ++number) PutOne(*store, NumberedKey(number), NumberedBlob(number, 5000));
  for (int round = 0; round < kRounds; ++round) {
    for (int number = 0; number < kEntries; ++number) ASSERT_TRUE(store->Get(NumberedKey(number))) << number;
  }
  EXPECT_TRUE(store->TakeWarnings().empty());
  EXPECT_EQ(ListEntries(folder.path())->size(), static_cast<size_t>(kEntries));
  EXPECT_TRUE(VerifyStore(folder.path(), false)->clean());
}

// A number as sqlite's records have it, in three bytes.
std::string Varint3(uint32_t number) {
  std::string text;
  for (const uint32_t shift : {14u, 7u, 0u})
    text += static_cast<char>((number >> shift & 0x7f) | (shift > 0 ? 0x80 : 0));
  return text;
}

// The row of a blob: the size of its content, the only row's number, and the content's header with the blob's type.
std::string BeginOfBlobRow(uint32_t size_bytes) {
  return Varint3(size_bytes + 5) + "\x01" + std::string("\x05\0", 2) + Varint3(2 * size_bytes + 12);
}

TEST(CacheEndless, ABlobThatClaimsMoreThanTheFileHasTakesNoMemory) {
  constexpr uint32_t kBlobBytes = 40'000, kClaimedBytes = 1'000'000;
  const CacheFolder folder;
  auto options = folder.options();
  options.allow_write_ahead_log = false;
  PutOne(*CacheFolder::Open(options), NumberedKey(0), NumberedBlob(0, kBlobBytes));
  {
    auto database = Database::Open(folder.file(), Database::Access::kReadWrite);
    ASSERT_TRUE(database.ok() && database->Run(fmt::format("UPDATE entries SET size_bytes={}", kClaimedBytes)).ok());
  }
  std::string file = ReadFile(folder.file());
  const std::string row = BeginOfBlobRow(kBlobBytes);
  const size_t at = file.find(row);
  ASSERT_NE(at, std::string::npos);
  WriteFile(folder.file(), file.replace(at, row.size(), BeginOfBlobRow(kClaimedBytes)));
  const auto store = CacheFolder::Open(options);
  bool is_asked_for_memory = false;
  EXPECT_FALSE(store->Get(NumberedKey(0), [&](uint64_t) {
    is_asked_for_memory = true;
    return std::span<std::byte>();
  }));
  EXPECT_FALSE(is_asked_for_memory);
}

// Many models with the same kernels: what a list of them takes must not grow with the square of their number.
TEST(CacheEndless, ManyModelsWithTheSameEntriesAreListed) {
  const CacheFolder folder;
  const auto options = OneEntry(folder);
  constexpr int kModels = 300, kShared = 100;
  {
    auto database = Database::Open(folder.file(), Database::Access::kReadWrite);
    ASSERT_TRUE(database.ok());
    ASSERT_TRUE(database
                    ->Run(fmt::format(
                        "WITH RECURSIVE n(k) AS (SELECT 2 UNION ALL SELECT k+1 FROM n WHERE k<={0}) INSERT INTO models"
                        " SELECT k, 'model ' || k, '/models/' || k, 0, k FROM n;"
                        "WITH RECURSIVE d(k) AS (SELECT 1 UNION ALL SELECT k+1 FROM d WHERE k<{1}) INSERT INTO uses"
                        " SELECT m.id, CAST(printf('%016d', d.k) AS BLOB) FROM models m, d WHERE m.id>1",
                        kModels, kShared))
                    .ok());
  }
  const auto models = ListModels(folder.path());
  ASSERT_TRUE(models.ok()) << models.status().message();
  EXPECT_EQ(models->size(), static_cast<size_t>(kModels) + 1);
  const auto uses = ListUses(folder.path());
  ASSERT_TRUE(uses.ok()) << uses.status().message();
  EXPECT_EQ(uses->back().digests.size(), static_cast<size_t>(kShared));
}

}  // namespace
}  // namespace hearth
