// Caches that users share ($HEARTH_CACHE_TRUST). What nobody is trusted with: tests/unit/cache_folder_test.cc.
#include <sys/stat.h>

#include <cstdlib>
#include <functional>
#include <string>

#include "cache/files/folder.h"
#include "tests/testing/cache_folder.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;
using testing::CacheFolder;
using testing::NumberedBlob;
using testing::NumberedKey;
using testing::PutOne;
using testing::StartProcess;
using testing::WaitFor;

constexpr gid_t kGroup = 71001;
constexpr uid_t kAnna = 72001, kBert = 72002, kStranger = 72003;
constexpr const char* kTrustsGroup = "group:71001";

// Runs `body` as that user, who is a member of kGroup or of none, and trusts as the text says.
int RunAs(uid_t user, bool is_member, const char* trust, const std::function<int()>& body) {
  return WaitFor(StartProcess([&] {
    if (!testing::BecomeUser(user, std::span(&kGroup, is_member ? 1 : 0))) return 77;
    ::setenv("HEARTH_CACHE_TRUST", trust, 1);
    return body();
  }));
}

void Give(const fs::path& path, uid_t user, gid_t group, mode_t mode) {
  ASSERT_EQ(::chown(path.c_str(), user, group), 0);
  ASSERT_EQ(::chmod(path.c_str(), mode), 0);
}

class CacheTrust : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can become other users";
  }
  // Finds entry `found` (0: none) and stores entry `stored`.
  int FindAndStore(uint32_t found, uint32_t stored) const {
    const auto store = testing::StoreCache::Open(folder_.options());
    if (!store.ok()) return 1;
    if (found != 0 && !(*store)->Get(NumberedKey(found))) return 2;
    PutOne(**store, NumberedKey(stored), NumberedBlob(stored, 1000));
    return (*store)->Get(NumberedKey(stored)) && (*store)->counters().put_errors == 0 ? 0 : 3;
  }
  CacheFolder folder_;
};

TEST_F(CacheTrust, MembersOfAGroupShareAStoreAndOthersDoNot) {
  Give(folder_.path(), 0, kGroup, 02770);
  EXPECT_EQ(RunAs(kAnna, true, kTrustsGroup, [&] { return FindAndStore(0, 1); }), 0);
  EXPECT_EQ(RunAs(kBert, true, kTrustsGroup, [&] { return FindAndStore(1, 2); }), 0);
  EXPECT_EQ(RunAs(kAnna, true, kTrustsGroup, [&] { return FindAndStore(2, 3); }), 0);
  EXPECT_EQ(RunAs(kStranger, false, kTrustsGroup, [&] { return FindAndStore(0, 4); }), 1);
  EXPECT_EQ(RunAs(kBert, true, "owner", [&] { return FindAndStore(0, 4); }), 1);
}

TEST_F(CacheTrust, AFolderThatIsMissingIsMadeForTheGroup) {
  Give(folder_.path(), 0, kGroup, 0770);
  const fs::path cache = folder_.path() / "between" / "cache";
  EXPECT_EQ(RunAs(kAnna, true, kTrustsGroup, [&] { return PrepareFolder(cache).ok() ? 0 : 1; }), 0);
  EXPECT_EQ(RunAs(kBert, true, kTrustsGroup, [&] { return PrepareFolder(cache).ok() ? 0 : 1; }), 0);
  struct stat info;
  ASSERT_EQ(::lstat(cache.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 02770u);
  EXPECT_EQ(info.st_gid, kGroup);
}

TEST_F(CacheTrust, WhoIsNoMemberMakesNoFolderForTheGroup) {
  Give(folder_.path(), kStranger, kStranger, 0700);
  EXPECT_EQ(RunAs(kStranger, false, kTrustsGroup,
                  [&] {
                    const auto made = PrepareFolder(folder_.path() / "cache");
                    return made.status().message().find("a member?") != std::string::npos ? 0 : 1;
                  }),
            0);
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

// In a folder for all with the setgid bit whatever anybody makes belongs to the group.
TEST_F(CacheTrust, AStrangersFolderIsNotTrustedForItsGroup) {
  fs::create_directory(folder_.path() / "his");
  Give(folder_.path() / "his", kStranger, kGroup, 02770);
  const auto prepare = [&] { return PrepareFolder(folder_.path() / "his").ok() ? 0 : 1; };
  Give(folder_.path(), 0, kGroup, 03777);
  EXPECT_EQ(RunAs(kAnna, true, kTrustsGroup, prepare), 1);
  Give(folder_.path(), 0, kGroup, 02770);
  EXPECT_EQ(RunAs(kAnna, true, kTrustsGroup, prepare), 0) << "only members could make it there";
}

// He has moved it from a folder for all, into one where another group may write.
TEST_F(CacheTrust, AStrangersFolderIsNotTrustedWhereAnotherGroupMayWrite) {
  fs::create_directory(folder_.path() / "his");
  Give(folder_.path() / "his", kStranger, kGroup, 02770);
  const auto prepare = [&] { return PrepareFolder(folder_.path() / "his").ok() ? 0 : 1; };
  Give(folder_.path(), 0, kGroup + 1, 01775);
  EXPECT_EQ(RunAs(kAnna, true, kTrustsGroup, prepare), 1);
}

// What sqlite made there would belong to the first user's own group: the others could not read it.
TEST_F(CacheTrust, AGroupsFolderGivesItsGroupToWhatIsMadeThere) {
  const auto prepare = [&] { return PrepareFolder(folder_.path()).status().message(); };
  Give(folder_.path(), 0, kGroup, 0770);
  EXPECT_EQ(RunAs(kAnna, true, kTrustsGroup, [&] { return prepare().find("chmod g+s") != std::string::npos; }), 1);
  EXPECT_EQ(RunAs(0, false, kTrustsGroup, [&] { return prepare().empty() ? 0 : 1; }), 0) << "sqlite lets root do it";
  Give(folder_.path(), 0, kGroup, 02770);
  EXPECT_EQ(RunAs(kAnna, true, kTrustsGroup, [&] { return prepare().empty() ? 0 : 1; }), 0);
}

TEST_F(CacheTrust, FoldersThatAreMadeAboveAreNotForAll) {
  Give(folder_.path(), kAnna, kAnna, 0755);
  const fs::path above = folder_.path() / "above";
  EXPECT_EQ(RunAs(kAnna, false, "everyone", [&] { return PrepareFolder(above / "cache").ok() ? 0 : 1; }), 0);
  struct stat info;
  ASSERT_EQ(::lstat(above.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0755u);
  ASSERT_EQ(::lstat((above / "cache").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0777u);
}

TEST_F(CacheTrust, AFolderForAllServesWhoTrustsEveryone) {
  Give(folder_.path(), 0, kGroup, 02777);  // Kubernetes' emptyDir with an fsGroup
  EXPECT_EQ(RunAs(kAnna, false, "owner", [&] { return FindAndStore(0, 1); }), 1);
  EXPECT_EQ(RunAs(kAnna, true, kTrustsGroup, [&] { return FindAndStore(0, 1); }), 1);
  EXPECT_EQ(RunAs(kAnna, false, "everyone", [&] { return FindAndStore(0, 1); }), 0);
  EXPECT_EQ(RunAs(kBert, false, "everyone", [&] { return FindAndStore(1, 2); }), 0);
}

TEST_F(CacheTrust, AccessListsAreRefusedInAGroupsFolderToo) {
  Give(folder_.path(), 0, kGroup, 02770);
  if (!testing::LetAnotherUserWrite(folder_.path())) GTEST_SKIP() << "the file system has no access lists";
  EXPECT_EQ(RunAs(kAnna, true, kTrustsGroup, [&] { return FindAndStore(0, 1); }), 1);
}

TEST_F(CacheTrust, OtherTextsAndUnknownGroupsAreErrors) {
  const std::pair<const char*, StatusCode> texts[] = {{"all", StatusCode::kInvalidArgument},
                                                      {"group:", StatusCode::kNotFound},
                                                      {"group:-1", StatusCode::kNotFound},
                                                      {"group:4294967295", StatusCode::kNotFound},
                                                      {"group:no such group", StatusCode::kNotFound}};
  for (const auto& text : texts) {
    const auto is_refused = [&] {
      const Status status = PrepareFolder(folder_.path()).status();
      return status.code() == text.second && status.message().find("HEARTH_CACHE_TRUST") != std::string::npos;
    };
    EXPECT_EQ(RunAs(0, false, text.first, is_refused), 1) << text.first;
  }
}

}  // namespace
}  // namespace hearth
