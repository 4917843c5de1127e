// Which models use what: lists, pins, removal; and what the doctor finds.
#include <algorithm>

#include "cache/desk/reports.h"
#include "cache/files/database.h"
#include "hearth/cache.h"
#include "tests/testing/cache_folder.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;
using testing::CacheFolder;
using testing::NumberedBlob;
using testing::NumberedKey;
using testing::PutOne;

constexpr size_t kBytes = 100000;

// A session of a model that needs these entries.
void UseOfModel(const CacheFolder& folder, const std::string& name, std::initializer_list<int> numbers,
                uint64_t max_bytes = uint64_t{1} << 30) {
  auto options = folder.options();
  options.model = {std::string(28, 'f') + name, "/models/" + name};
  options.max_bytes = max_bytes;
  const auto store = CacheFolder::Open(options);
  for (const int number : numbers) {
    if (!store->Get(NumberedKey(number))) PutOne(*store, NumberedKey(number), NumberedBlob(number, kBytes));
  }
}

bool Has(const CacheFolder& folder, int number) {
  return folder.Open()->Get(NumberedKey(number)).has_value();
}

TEST(CacheModels, AreListedWithWhatIsTheirOwnAndWhatTheyShare) {
  const CacheFolder folder;
  UseOfModel(folder, "a.tf", {1, 2, 3});
  UseOfModel(folder, "b.tf", {3, 4});
  const auto models = ListModels(folder.path());
  ASSERT_TRUE(models.ok()) << models.status().message();
  ASSERT_EQ(models->size(), 2u);
  const CacheModel& a = (*models)[0].path == "/models/a.tf" ? (*models)[0] : (*models)[1];
  EXPECT_EQ(a.fingerprint, std::string(28, 'f') + "a.tf");
  EXPECT_EQ(a.entries, 3u);
  EXPECT_EQ(a.own_bytes, 2 * kBytes);
  EXPECT_EQ(a.shared_bytes, kBytes);
}

TEST(CacheModels, RemovingOneLeavesWhatOthersUse) {
  const CacheFolder folder;
  UseOfModel(folder, "a.tf", {1, 2, 3});
  UseOfModel(folder, "b.tf", {3, 4});
  const auto removed = RemoveModel(folder.path(), "/models/a.tf");
  ASSERT_TRUE(removed.ok()) << removed.status().message();
  EXPECT_EQ(removed->entries, 2u);
  EXPECT_FALSE(Has(folder, 1));
  EXPECT_TRUE(Has(folder, 3) && Has(folder, 4));
  EXPECT_EQ(ListModels(folder.path())->size(), 1u);
  EXPECT_EQ(RemoveModel(folder.path(), "/models/a.tf").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(RemoveModel(folder.path(), "f").status().code(), StatusCode::kNotFound) << "too short to be meant";
}

TEST(CacheModels, WhatAPinnedModelUsesIsNeitherEvictedNorPruned) {
  const CacheFolder folder;
  constexpr uint64_t kLimit = 1 << 20;
  UseOfModel(folder, "a.tf", {1, 2}, kLimit);
  ASSERT_TRUE(SetPinned(folder.path(), "/models/a.tf", true).ok());
  UseOfModel(folder, "b.tf", {3, 4, 5}, kLimit);
  UseOfModel(folder, "c.tf", {6, 7, 8, 9, 10}, kLimit);
  EXPECT_TRUE(Has(folder, 1) && Has(folder, 2));
  EXPECT_FALSE(Has(folder, 3));
  ASSERT_TRUE(PruneStore(folder.path(), 0).ok());
  EXPECT_TRUE(Has(folder, 1) && Has(folder, 2));
  EXPECT_FALSE(Has(folder, 10));
  CacheFilter old{.unused_since_ms = INT64_MAX, .spares_pinned = true};
  EXPECT_EQ(ClearStore(folder.path(), old)->entries, 0u);
  ASSERT_TRUE(SetPinned(folder.path(), "/models/a.tf", false).ok());
  ASSERT_TRUE(PruneStore(folder.path(), 0).ok());
  EXPECT_FALSE(Has(folder, 1));
}

// As a start with other options, whose entries came with a bundle: it puts nothing and has no stamps to renew.
TEST(CacheModels, APinKeepsAlsoWhatAWarmStartWithFewerEntriesUsed) {
  const CacheFolder folder;
  UseOfModel(folder, "a.tf", {1, 2, 3});
  for (const int number : {4, 5}) PutOne(*folder.Open(), NumberedKey(number), NumberedBlob(number, kBytes));
  UseOfModel(folder, "a.tf", {4, 5});
  ASSERT_TRUE(SetPinned(folder.path(), "/models/a.tf", true).ok());
  EXPECT_EQ(ListModels(folder.path())->front().entries, 5u);
  EXPECT_EQ(PruneStore(folder.path(), 0)->entries, 0u);
}

TEST(CacheModels, AWarmSessionOfAKnownModelWritesNothingAboutIt) {
  const CacheFolder folder;
  UseOfModel(folder, "a.tf", {1, 2});
  const int64_t before = ListModels(folder.path())->front().last_used_ms;
  UseOfModel(folder, "a.tf", {1});
  EXPECT_EQ(ListModels(folder.path())->front().last_used_ms, before);
  UseOfModel(folder, "b.tf", {1});
  EXPECT_EQ(ListModels(folder.path())->size(), 2u) << "new to the store, although all was there";
}

size_t Troubles(const std::vector<CacheFinding>& findings) {
  return static_cast<size_t>(std::ranges::count_if(findings, &CacheFinding::is_trouble));
}

std::vector<CacheFinding> Examine(const CacheFolder& folder) {
  return ExamineCache(folder.path(), uint64_t{1} << 30);
}

TEST(CacheDoctor, FindsNothingWrongWithASoundStoreNorWithNone) {
  const CacheFolder folder;
  EXPECT_EQ(Troubles(Examine(folder)), 0u);
  PutOne(*folder.Open(), NumberedKey(1), NumberedBlob(1, kBytes));
  const auto findings = Examine(folder);
  for (const CacheFinding& finding : findings) EXPECT_FALSE(finding.is_trouble) << finding.what;
  EXPECT_EQ(Troubles(ExamineCache(folder.path() / "none", 1)), 0u);
}

TEST(CacheDoctor, NamesEachTroubleWithItsCostAndACommand) {
  const auto expect = [](const CacheFolder& folder, const std::string& part, const std::string& command) {
    for (const CacheFinding& finding : Examine(folder)) {
      if (!finding.is_trouble || finding.what.find(part) == std::string::npos) continue;
      EXPECT_FALSE(finding.cost.empty()) << part;
      EXPECT_NE(finding.command.find(command), std::string::npos) << finding.command;
      return;
    }
    ADD_FAILURE() << "not found: " << part;
  };
  {
    const CacheFolder folder;
    testing::WriteFile(folder.file(), std::string(5000, 'x'));
    expect(folder, "hearth.db", "hearth cache verify --repair");
    folder.Open().reset();
    expect(folder, "damaged file", "hearth cache clear");
  }
  {
    const CacheFolder folder;
    ASSERT_EQ(::chmod(folder.path().c_str(), 0777), 0);
    expect(folder, "other users", "HEARTH_CACHE_DIR");
  }
  {
    const CacheFolder folder;
    WaitBudget waits(100);
    const auto lock = FolderLock::Take(folder.path(), FolderLock::Mode::kShared, waits);
    expect(folder, "keeps", "fuser");
  }
  {
    const CacheFolder folder;
    PutOne(*folder.Open(), NumberedKey(1), NumberedBlob(1, kBytes));
    auto database = Database::Open(folder.file(), Database::Access::kReadWrite);
    ASSERT_TRUE(database->Run("UPDATE entries SET last_used_ms=9000000000000000").ok());
    expect(folder, "in the future", "date");
  }
}

// Such a lock can't be taken, and a start then goes on as if it had it.
TEST(CacheDoctor, ALockThatIsNoFileIsATrouble) {
  for (const std::string what : {"folder", "link to a file", "link to nothing", "pipe"}) {
    const CacheFolder folder, elsewhere;
    const std::filesystem::path lock = folder.path() / kLockFileName, target = elsewhere.path() / kLockFileName;
    if (what == "folder") std::filesystem::create_directory(lock);
    if (what == "link to a file") testing::WriteFile(target, "");
    if (what.starts_with("link")) std::filesystem::create_symlink(target, lock);
    const bool is_made = what != "pipe" || ::mkfifo(lock.c_str(), 0600) == 0;
    ASSERT_TRUE(is_made);
    const auto findings = Examine(folder);
    EXPECT_EQ(Troubles(findings), 1u) << what;
    const auto trouble = std::ranges::find_if(findings, &CacheFinding::is_trouble);
    ASSERT_NE(trouble, findings.end()) << what;
    EXPECT_NE(trouble->what.find("hearth.lock is not a file"), std::string::npos) << what << ": " << trouble->what;
    EXPECT_FALSE(trouble->cost.empty()) << what;
    EXPECT_EQ(trouble->command, "rm -r '" + std::filesystem::canonical(folder.path()).string() + "/hearth.lock'");
    std::filesystem::remove_all(lock);
    EXPECT_EQ(Troubles(Examine(folder)), 0u) << what;
    EXPECT_EQ(std::filesystem::exists(target), what == "link to a file") << "it was left alone";
  }
}

TEST(CacheDoctor, AServerThatDoesNotAnswerIsATrouble) {
  const CacheFolder folder;
  EXPECT_EQ(Troubles(Cache::At(folder.path().string())->Examine({"127.0.0.1:1", "", ""})), 1u);
}

TEST(CacheModels, TheLastPathIsRemembered) {
  const CacheFolder folder;
  UseOfModel(folder, "a.tf", {1});
  auto options = folder.options();
  options.model = {std::string(28, 'f') + "a.tf", "/models/moved"};
  EXPECT_TRUE(CacheFolder::Open(options)->Get(NumberedKey(1)).has_value());
  const auto models = ListModels(folder.path());
  ASSERT_TRUE(models.ok()) << models.status().message();
  ASSERT_EQ(models->size(), 1u);
  EXPECT_EQ(models->front().path, "/models/moved");
  options.model.path.clear();  // a model in memory has none
  options.stamp_age_ms = 0;    // so that the model is noted
  EXPECT_TRUE(CacheFolder::Open(options)->Get(NumberedKey(1)).has_value());
  EXPECT_EQ(ListModels(folder.path())->front().path, "/models/moved");
}

}  // namespace
}  // namespace hearth
