// Whom the cache trusts: folder and file rules.
#include "tests/testing/cache_folder.h"

#include <fcntl.h>
#include <sys/xattr.h>

#include <cstdlib>
#include <optional>

#include "cache/files/folder.h"
#include "core/base/text.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;
using testing::CacheFolder;

mode_t ModeOf(const fs::path& path) {
  struct stat info;
  return ::lstat(path.c_str(), &info) == 0 ? info.st_mode & 07777 : 0;
}

// Sets a variable, or removes it, for one scope.
class VariableScope {
 public:
  VariableScope(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    value != nullptr ? ::setenv(name, value, 1) : ::unsetenv(name);
  }
  ~VariableScope() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }
  VariableScope(const VariableScope&) = delete;
  VariableScope& operator=(const VariableScope&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

TEST(CacheFolderRules, TheDefaultFollowsTheThreeVariablesInOrder) {
  const TemporaryFolder own_home;
  const VariableScope home("HOME", own_home.path().c_str());
  const VariableScope no_xdg("XDG_CACHE_HOME", nullptr), no_own("HEARTH_CACHE_DIR", nullptr);
  EXPECT_EQ(DefaultCacheFolder().value(), own_home.path() / ".cache/hearth");
  const VariableScope xdg("XDG_CACHE_HOME", "/xdg");
  EXPECT_EQ(DefaultCacheFolder().value(), "/xdg/hearth");
  const VariableScope own("HEARTH_CACHE_DIR", "/own");
  EXPECT_EQ(DefaultCacheFolder().value(), "/own");
}

TEST(CacheFolderRules, ATildeInTheVariableIsTheHomeOrAnError) {
  const VariableScope home("HOME", "/own-home");
  const std::pair<const char*, const char*> folders[] = {
      {"~", "/own-home"}, {"~/a/b", "/own-home/a/b"}, {"./~/a", "./~/a"}, {"/a/~", "/a/~"}};
  for (const auto& [given, folder] : folders) {
    const VariableScope own("HEARTH_CACHE_DIR", given);
    EXPECT_EQ(DefaultCacheFolder().value(), folder);
  }
  const VariableScope others("HEARTH_CACHE_DIR", "~nobody/a");
  EXPECT_NE(DefaultCacheFolder().status().message().find("'~nobody/a'"), std::string::npos);
  const VariableScope no_home("HOME", nullptr), own("HEARTH_CACHE_DIR", "~/a");
  EXPECT_NE(DefaultCacheFolder().status().message().find("$HOME"), std::string::npos);
}

TEST(CacheFolderRules, ANewFolderIsItsOwnersWhateverTheUmask) {
  const CacheFolder folder;
  const mode_t before = ::umask(0777);
  const auto prepared = PrepareFolder(folder.path() / "a" / "b", FolderUse::kCreate);
  ::umask(before);
  ASSERT_TRUE(prepared.ok()) << prepared.status().message();
  EXPECT_EQ(ModeOf(folder.path() / "a"), 0700u);
  EXPECT_EQ(ModeOf(*prepared), 0700u);
}

TEST(CacheSizes, AreReadAsPeopleWriteThem) {
  const std::pair<const char*, uint64_t> sizes[] = {{"0", 0},
                                                    {"1500", 1500},
                                                    {"1500B", 1500},
                                                    {"64K", 64 << 10},
                                                    {"256M", 256 << 20},
                                                    {"256MiB", 256 << 20},
                                                    {"256MB", 256000000},
                                                    {"1.5G", 3 << 29},
                                                    {"2T", uint64_t{2} << 40},
                                                    {"0.5KB", 500}};
  for (const auto& [text, bytes] : sizes) EXPECT_EQ(ParseSizeBytes(text).value(), bytes) << text;
  for (const char* text : {"0.0000001K", "", "much", "-1", "1.5", "1X", "1Mi", "1 G", "1e3", "99999999T", "nan"}) {
    EXPECT_FALSE(ParseSizeBytes(text).ok()) << text;
  }
}

TEST(CacheFolderRules, WithoutAHomeThatCanBeWrittenItIsAPrivateFolderAmongTemporaryOnes) {
  const VariableScope xdg("XDG_CACHE_HOME", nullptr), own("HEARTH_CACHE_DIR", nullptr);
  const std::string name = "hearth-" + std::to_string(::geteuid());
  for (const char* home : {static_cast<const char*>(nullptr), "/dev/null"}) {
    const VariableScope without("HOME", home);
    const auto folder = DefaultCacheFolder();
    ASSERT_TRUE(folder.ok()) << folder.status().message();
    EXPECT_EQ(folder->filename(), name);
    EXPECT_TRUE(folder->parent_path() == "/var/tmp" || folder->parent_path() == "/tmp") << *folder;
  }
}

TEST(CacheFolderRules, ANewFolderAndItsFileArePrivate) {
  const CacheFolder folder;
  StoreOptions options{.folder = folder.path() / "a" / "b"};
  const auto store = CacheFolder::Open(options);
  EXPECT_EQ(ModeOf(folder.path() / "a" / "b"), 0700u);
  EXPECT_EQ(ModeOf(folder.path() / "a" / "b" / "hearth.db"), 0600u);
  EXPECT_EQ(ModeOf(folder.path() / "a" / "b" / "hearth.db-wal"), 0600u);
}

TEST(CacheFolderRules, AFolderThatOthersMayReadIsUsed) {
  const CacheFolder folder;
  ASSERT_EQ(::chmod(folder.path().c_str(), 0755), 0);
  EXPECT_TRUE(PrepareFolder(folder.path()).ok());
}

// A group of somebody else's; false where this user can't give files away.
bool GiveToAnotherGroup(const fs::path& path) {
  constexpr gid_t kNobodysGroup = 12345;
  return ::chown(path.c_str(), static_cast<uid_t>(-1), kNobodysGroup) == 0;
}

TEST(CacheFolderRules, AFolderThatItsGroupMayWriteIsRefused) {
  const CacheFolder folder;
  if (!GiveToAnotherGroup(folder.path())) GTEST_SKIP() << "only root can give a folder to any group";
  ASSERT_EQ(::chmod(folder.path().c_str(), 0770), 0);
  const auto prepared = PrepareFolder(folder.path());
  ASSERT_FALSE(prepared.ok());
  EXPECT_NE(prepared.status().message().find("may be written by other users"), std::string::npos);
}

TEST(CacheFolderRules, AGroupThatHasOnlyItsOwnerIsNoOthers) {
  if (::geteuid() != 0) GTEST_SKIP() << "not every user has a group of his own, root has";
  const CacheFolder folder;
  ASSERT_EQ(::chmod(folder.path().c_str(), 0770), 0);
  const auto prepared = PrepareFolder(folder.path());
  EXPECT_TRUE(prepared.ok()) << prepared.status().message();
}

TEST(CacheFolderRules, WhatAnAccessListLetsOthersWriteIsRefused) {
  const CacheFolder parent;
  const fs::path folder = parent.path() / "cache";
  {
    StoreOptions options = parent.options();
    options.folder = folder;
    ASSERT_NE(CacheFolder::Open(options), nullptr);
  }
  for (const fs::path& path : {folder / kStoreFileName, folder, parent.path()}) {
    if (!testing::LetAnotherUserWrite(path)) GTEST_SKIP() << "the file system has no access lists";
    const auto opened = testing::StoreCache::Open({.folder = folder});
    ASSERT_FALSE(opened.ok()) << path;
    EXPECT_NE(opened.status().message().find("other users"), std::string::npos) << opened.status().message();
    ASSERT_EQ(::removexattr(path.c_str(), "system.posix_acl_access"), 0);
    ASSERT_EQ(::chmod(path.c_str(), fs::is_directory(path) ? 0700 : 0600), 0);
    EXPECT_TRUE(testing::StoreCache::Open({.folder = folder}).ok());
  }
}

TEST(CacheFolderRules, AFolderBelowOneThatOthersMayWriteIsRefused) {
  const CacheFolder folder;
  const fs::path open = folder.path() / "open", inner = open / "between" / "cache";
  fs::create_directories(inner);
  ASSERT_TRUE(PrepareFolder(inner).ok());
  ASSERT_EQ(::chmod(open.c_str(), 0777), 0);
  const auto prepared = PrepareFolder(inner);
  ASSERT_FALSE(prepared.ok());
  EXPECT_NE(prepared.status().message().find("open, above "), std::string::npos) << prepared.status().message();
  EXPECT_FALSE(PrepareFolder(inner, FolderUse::kReadOnlyLayer).ok());
  ASSERT_EQ(::chmod(open.c_str(), 01777), 0);
  EXPECT_TRUE(PrepareFolder(inner).ok()) << "with the sticky bit nobody else can replace it";
}

TEST(CacheFolderRules, AFolderBelowOneOfAnotherUserIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  const CacheFolder folder;
  fs::create_directories(folder.path() / "his" / "cache");
  ASSERT_EQ(::chown((folder.path() / "his").c_str(), 12345, 12345), 0);
  EXPECT_FALSE(PrepareFolder(folder.path() / "his" / "cache").ok());
}

TEST(CacheFolderRules, AStickyFolderOfAnotherUserIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  const CacheFolder folder;
  ASSERT_EQ(::chmod(folder.path().c_str(), 01777), 0);
  ASSERT_EQ(::chown(folder.path().c_str(), 12345, 12345), 0);
  EXPECT_FALSE(PrepareFolder(folder.path()).ok());
}

TEST(CacheFolderRules, AStickyFolderForAllGetsAPrivateOneInside) {
  const CacheFolder folder;
  ASSERT_EQ(::chmod(folder.path().c_str(), 01777), 0);
  const auto prepared = PrepareFolder(folder.path());
  ASSERT_TRUE(prepared.ok()) << prepared.status().message();
  EXPECT_EQ(prepared->filename(), "hearth-" + std::to_string(::geteuid()));
  EXPECT_EQ(ModeOf(*prepared), 0700u);
}

TEST(CacheFolderRules, APrivateFolderThatSomebodyOpenedUpIsRefused) {
  const CacheFolder folder;
  ASSERT_EQ(::chmod(folder.path().c_str(), 01777), 0);
  const fs::path inner = folder.path() / ("hearth-" + std::to_string(::geteuid()));
  ASSERT_EQ(::mkdir(inner.c_str(), 0700), 0);
  ASSERT_EQ(::chmod(inner.c_str(), 01777), 0);
  EXPECT_FALSE(PrepareFolder(folder.path()).ok());
}

TEST(CacheFolderRules, ALinkInPlaceOfTheFolderIsRefusedAndOneAboveItIsResolved) {
  const CacheFolder folder;
  fs::create_directory(folder.path() / "real");
  fs::create_directory_symlink(folder.path() / "real", folder.path() / "link");
  EXPECT_FALSE(PrepareFolder(folder.path() / "link").ok());
  EXPECT_FALSE(PrepareFolder(folder.path() / "link" / "").ok());
  const auto below = PrepareFolder(folder.path() / "link" / "below");
  ASSERT_TRUE(below.ok()) << below.status().message();
  EXPECT_EQ(*below, fs::canonical(folder.path()) / "real" / "below");
}

// Everybody may rename what is in there, and put a link in its place.
fs::path MakeOpenFolder(const fs::path& folder) {
  fs::create_directory(folder);
  EXPECT_EQ(::chmod(folder.c_str(), 0777), 0);
  return folder;
}

TEST(CacheFolderRules, NothingIsMadeBelowAFolderThatOthersMayWrite) {
  const CacheFolder folder;
  const fs::path open = MakeOpenFolder(folder.path() / "open");
  EXPECT_FALSE(PrepareFolder(open / "cache").ok());
  EXPECT_FALSE(PrepareFolder(open / "new" / "cache").ok());
  EXPECT_TRUE(fs::is_empty(open));
}

TEST(CacheFolderRules, ALinkThatOthersCouldReplaceIsNotFollowed) {
  const CacheFolder folder;
  const fs::path open = MakeOpenFolder(folder.path() / "open"), real = folder.path() / "real";
  fs::create_directories(real / "cache");
  fs::create_directory_symlink(real, open / "link");
  fs::create_directory_symlink(open / "link", folder.path() / "link");
  for (const fs::path& wanted : {open / "link" / "cache", folder.path() / "link" / "cache",
                                 folder.path() / "link" / "new", open / "link" / "." / "cache" / ""}) {
    for (const FolderUse use : {FolderUse::kCreate, FolderUse::kExisting, FolderUse::kReadOnlyLayer}) {
      const auto prepared = PrepareFolder(wanted, use);
      ASSERT_FALSE(prepared.ok()) << wanted;
      EXPECT_NE(prepared.status().message().find("open, above "), std::string::npos) << prepared.status().message();
    }
  }
  EXPECT_FALSE(fs::exists(real / "new"));
}

TEST(CacheFolderRules, ALinkOfAnotherUserIsNotFollowed) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a link away";
  const CacheFolder folder;
  fs::create_directories(folder.path() / "real" / "cache");
  fs::create_directory_symlink(folder.path() / "real", folder.path() / "link");
  ASSERT_EQ(::lchown((folder.path() / "link").c_str(), 12345, 12345), 0);
  const auto prepared = PrepareFolder(folder.path() / "link" / "cache");
  ASSERT_FALSE(prepared.ok());
  EXPECT_NE(prepared.status().message().find("a symbolic link of user 12345"), std::string::npos);
}

TEST(CacheFolderRules, TheFolderAboveALinkedOneIsThatOfItsTarget) {
  const CacheFolder folder;
  fs::create_directories(folder.path() / "a" / "b");
  fs::create_directory_symlink(folder.path() / "a" / "b", folder.path() / "link");
  const auto prepared = PrepareFolder(folder.path() / "link" / ".." / "cache");
  ASSERT_TRUE(prepared.ok()) << prepared.status().message();
  EXPECT_EQ(*prepared, fs::canonical(folder.path()) / "a" / "cache");
}

TEST(CacheFolderRules, LinksThatLeadInCirclesAreAnError) {
  const CacheFolder folder;
  fs::create_directory_symlink(folder.path() / "b", folder.path() / "a");
  fs::create_directory_symlink(folder.path() / "a", folder.path() / "b");
  const auto prepared = PrepareFolder(folder.path() / "a" / "cache");
  ASSERT_FALSE(prepared.ok());
  EXPECT_NE(prepared.status().message().find("too many"), std::string::npos) << prepared.status().message();
}

TEST(CacheFolderRules, APathThatIsTooLongForSqliteIsRefusedAndNotMade) {
  const CacheFolder folder;
  const fs::path first = folder.path() / std::string(200, 'm');
  const auto prepared = PrepareFolder(first / std::string(200, 'n') / std::string(120, 'o'));
  ASSERT_FALSE(prepared.ok());
  EXPECT_NE(prepared.status().message().find("too long for sqlite"), std::string::npos) << prepared.status().message();
  EXPECT_FALSE(fs::exists(first));
}

TEST(CacheFolderRules, AFileInPlaceOfTheFolderIsRefused) {
  const CacheFolder folder;
  testing::WriteFile(folder.path() / "file", "text");
  EXPECT_FALSE(PrepareFolder(folder.path() / "file").ok());
  EXPECT_FALSE(PrepareFolder(folder.path() / "file" / "below").ok());
}

TEST(CacheFolderRules, AFolderOfAnotherUserIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  const CacheFolder folder;
  ASSERT_EQ(::chown(folder.path().c_str(), 12345, 12345), 0);
  EXPECT_FALSE(PrepareFolder(folder.path()).ok());
}

TEST(CacheFolderRules, ALinkInPlaceOfTheStoreIsRefusedAndItsTargetLeftAlone) {
  const CacheFolder folder;
  testing::WriteFile(folder.path() / "target", "precious");
  fs::create_symlink(folder.path() / "target", folder.file());
  EXPECT_FALSE(testing::StoreCache::Open(folder.options()).ok());
  EXPECT_EQ(testing::ReadFile(folder.path() / "target"), "precious");
}

TEST(CacheFolderRules, AStoreThatOthersMayWriteIsRefused) {
  const CacheFolder folder;
  folder.Open().reset();
  ASSERT_EQ(::chmod(folder.file().c_str(), 0602), 0);
  const auto store = testing::StoreCache::Open(folder.options());
  ASSERT_FALSE(store.ok());
  EXPECT_NE(store.status().message().find("other users"), std::string::npos);
}

TEST(CacheFolderRules, AFolderNameWithOddCharactersWorks) {
  const CacheFolder folder;
  StoreOptions options{.folder = folder.path() / "what? 100%#ä", .allow_write_ahead_log = false};
  testing::PutOne(*CacheFolder::Open(options), testing::NumberedKey(1), testing::NumberedBlob(1, 100));
  options.read_only = true;
  EXPECT_TRUE(CacheFolder::Open(options)->Get(testing::NumberedKey(1)).has_value());
}

// A pipe among them held every start and every command up for ever.
TEST(CacheFile, ASideFileThatIsNoFileOfOursIsRefusedAtOnce) {
  for (const char* suffix : {"-wal", "-shm", "-journal"}) {
    for (const char* kind : {"pipe", "folder", "link", "of all"}) {
      SCOPED_TRACE(std::string(suffix) + " is a " + kind);
      const CacheFolder folder;
      testing::PutOne(*folder.Open(), testing::NumberedKey(1), testing::NumberedBlob(1, 100));
      const std::string file = folder.file().string() + suffix;
      fs::remove(file);
      const std::string what = kind;
      if (what == "pipe") {
        ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
      }
      if (what == "folder") fs::create_directory(file);
      if (what == "link") fs::create_symlink(folder.path() / "nothing", file);
      if (what == "of all") {
        testing::WriteFile(file, "");
        ASSERT_EQ(::chmod(file.c_str(), 0666), 0);
      }
      const auto store = testing::StoreCache::Open(folder.options());
      ASSERT_EQ(store.status().code(), StatusCode::kIoError);
      EXPECT_NE(store.status().message().find(suffix), std::string::npos) << store.status().message();
      EXPECT_NE(store.status().message().find("remove it"), std::string::npos) << store.status().message();
      EXPECT_FALSE(fs::exists(folder.path() / "nothing"));
    }
  }
}

}  // namespace
}  // namespace hearth
