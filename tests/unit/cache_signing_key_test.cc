// Where secret keys are read and made: nobody else may have led the way there.
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>

#include "tests/testing/carried_bundle.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;
using testing::CacheFolder;
using ::testing::HasSubstr;
using testing::KeyFiles;

constexpr uid_t kStranger = 12345;

TEST(SecretKey, ThatOthersCouldReplaceIsRefused) {
  SKIP_WITHOUT_SIGNATURES();
  const KeyFiles keys;
  ASSERT_TRUE(keys.made);
  const fs::path file = keys.folder.path() / "key";
  EXPECT_TRUE(ReadSigningKey(file).ok());
  ASSERT_EQ(::chmod(keys.folder.path().c_str(), 0707), 0);
  EXPECT_EQ(ReadSigningKey(file).status().code(), StatusCode::kIoError);
  EXPECT_THAT(ReadSigningKey(file).status().message(), HasSubstr("the secret key: "));
  EXPECT_THAT(ReadSigningKey(file).status().message(), HasSubstr("who could replace it: 'chmod go-w' it"));
  ASSERT_EQ(::chmod(keys.folder.path().c_str(), 01707), 0);
  EXPECT_TRUE(ReadSigningKey(file).ok()) << "with the sticky bit nobody else can";
}

// What is read is what was checked, also where ".." leaves the folder that a link leads to.
TEST(SecretKey, BehindALinkThatOthersCouldReplaceIsRefused) {
  SKIP_WITHOUT_SIGNATURES();
  const KeyFiles keys;
  ASSERT_TRUE(keys.made);
  const fs::path open = keys.folder.path() / "open";
  fs::create_directories(open / "inner");
  fs::create_symlink(keys.folder.path() / "key", open / "link");
  fs::copy_file(keys.folder.path() / "key", open / "key");
  fs::create_directory_symlink(open / "inner", keys.folder.path() / "inner");
  const fs::path files[] = {open / "link", keys.folder.path() / "inner" / ".." / "key"};
  for (const fs::path& file : files) EXPECT_TRUE(ReadSigningKey(file).ok()) << file;
  ASSERT_EQ(::chmod(open.c_str(), 0777), 0);
  for (const fs::path& file : files) {
    EXPECT_THAT(ReadSigningKey(file).status().message(), HasSubstr("who could replace it")) << file;
  }
}

TEST(SecretKey, OfAnotherUserOrBehindHisLinkOrFolderIsRefused) {
  SKIP_WITHOUT_SIGNATURES();
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  const KeyFiles keys;
  ASSERT_TRUE(keys.made);
  const fs::path key = keys.folder.path() / "key", link = keys.folder.path() / "link", his = keys.folder.path() / "his";
  fs::create_symlink(key, link);
  fs::create_directory(his);
  fs::copy_file(key, his / "key");
  for (const fs::path& file : {link, his / "key"}) EXPECT_TRUE(ReadSigningKey(file).ok()) << file;
  for (const fs::path& path : {link, his}) ASSERT_EQ(::lchown(path.c_str(), kStranger, kStranger), 0);
  EXPECT_THAT(ReadSigningKey(link).status().message(), HasSubstr("a symbolic link of user 12345"));
  EXPECT_THAT(ReadSigningKey(his / "key").status().message(), HasSubstr("belongs to user 12345"));
  ASSERT_EQ(::chown(key.c_str(), kStranger, kStranger), 0);
  EXPECT_THAT(ReadSigningKey(key).status().message(), HasSubstr("belongs to user 12345"));
}

TEST(SecretKey, ThatOthersMayReadIsRefusedWithWhatToDo) {
  SKIP_WITHOUT_SIGNATURES();
  const KeyFiles keys;
  ASSERT_TRUE(keys.made);
  const fs::path key = keys.folder.path() / "key", link = keys.folder.path() / "link";
  fs::create_symlink(key, link);
  for (const mode_t mode : {0640u, 0604u, 0610u, 0602u}) {
    ASSERT_EQ(::chmod(key.c_str(), mode), 0);
    for (const fs::path& file : {key, link}) {
      EXPECT_THAT(ReadSigningKey(file).status().message(),
                  HasSubstr("may be read or written by others: 'chmod 600' it"))
          << file << ' ' << mode;
    }
  }
}

TEST(SecretKey, ThatIsThePublicOneIsSaidToBeSoWhateverItsMode) {
  SKIP_WITHOUT_SIGNATURES();
  const KeyFiles keys;
  ASSERT_TRUE(keys.made);
  const fs::path file = keys.folder.path() / "key.pub";
  for (const mode_t mode : {0644u, 0600u}) {
    ASSERT_EQ(::chmod(file.c_str(), mode), 0);
    EXPECT_THAT(ReadSigningKey(file).status().message(), HasSubstr("key.pub is a public key")) << mode;
  }
}

TEST(SecretKey, ThatIsNoFileOrNotThereIsSaidToBeSo) {
  const CacheFolder folder;
  EXPECT_THAT(ReadSigningKey(folder.path()).status().message(), HasSubstr("it is not a regular file"));
  EXPECT_EQ(ReadSigningKey(folder.path() / "none").status().code(), StatusCode::kNotFound);
  EXPECT_THAT(ReadSigningKey(folder.path() / "none").status().message(), HasSubstr("none"));
  EXPECT_EQ(ReadSigningKey("").status().code(), StatusCode::kInvalidArgument);
}

TEST(NewSigningKey, IsNotMadeWhereOthersMayWrite) {
  SKIP_WITHOUT_SIGNATURES();
  const CacheFolder folder;
  const fs::path open = folder.path() / "open", real = folder.path() / "real";
  for (const fs::path& made : {open, real}) fs::create_directory(made);
  fs::create_directory_symlink(real, open / "link");
  ASSERT_EQ(::chmod(open.c_str(), 0777), 0);
  for (const fs::path& file : {open / "key", open / "link" / "key"}) {
    const Status refused = MakeSigningKey(file).status();
    EXPECT_EQ(refused.code(), StatusCode::kIoError) << file;
    EXPECT_THAT(refused.message(), HasSubstr("can't make the key file: "));
    EXPECT_THAT(refused.message(), HasSubstr("open, above ")) << file;
  }
  EXPECT_FALSE(fs::exists(open / "key") || !fs::is_empty(real));
  ASSERT_EQ(::chmod(open.c_str(), 01777), 0);
  EXPECT_TRUE(MakeSigningKey(open / "key").ok()) << "with the sticky bit nobody else can replace it";
}

TEST(NewSigningKey, IsNotMadeInAnotherUsersFolderNorWhereHisLinkLeads) {
  SKIP_WITHOUT_SIGNATURES();
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  const CacheFolder folder;
  const fs::path his = folder.path() / "his", link = folder.path() / "link", real = folder.path() / "real";
  for (const fs::path& made : {his, real}) fs::create_directory(made);
  fs::create_directory_symlink(real, link);
  for (const fs::path& path : {his, link}) ASSERT_EQ(::lchown(path.c_str(), kStranger, kStranger), 0);
  EXPECT_THAT(MakeSigningKey(his / "key").status().message(), HasSubstr("belongs to user 12345"));
  EXPECT_THAT(MakeSigningKey(link / "key").status().message(), HasSubstr("a symbolic link of user 12345"));
  EXPECT_TRUE(fs::is_empty(his) && fs::is_empty(real));
}

// A link that is there already, as somebody may put it into a folder for all, is no place for either file.
TEST(NewSigningKey, FollowsNoLinkInPlaceOfItsFilesAndLeavesNoHalf) {
  SKIP_WITHOUT_SIGNATURES();
  for (const char* name : {"key", "key.pub"}) {
    const CacheFolder folder;
    fs::create_symlink(folder.path() / "elsewhere", folder.path() / name);
    EXPECT_EQ(MakeSigningKey(folder.path() / "key").status().code(), StatusCode::kIoError) << name;
    EXPECT_FALSE(fs::exists(folder.path() / "elsewhere")) << name;
    EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 1) << name;
  }
}

TEST(NewSigningKey, NeedsItsFolderAndANameInIt) {
  SKIP_WITHOUT_SIGNATURES();
  const CacheFolder folder;
  const Status no_folder = MakeSigningKey(folder.path() / "none" / "key").status();
  EXPECT_EQ(no_folder.code(), StatusCode::kIoError);
  EXPECT_THAT(no_folder.message(), HasSubstr("there is no folder " + (folder.path() / "none").string()));
  for (const char* name : {"key/", "key/."}) EXPECT_FALSE(MakeSigningKey(folder.path() / name).ok()) << name;
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

// A disk that is full, or a limit on the size of files.
TEST(NewSigningKey, ThatDoesNotFitLeavesNoHalf) {
  SKIP_WITHOUT_SIGNATURES();
  const CacheFolder folder;
  const pid_t child = testing::StartProcess([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit few{10, 10};
    if (::setrlimit(RLIMIT_FSIZE, &few) != 0) return 2;
    return MakeSigningKey(folder.path() / "key").ok() ? 1 : 0;
  });
  EXPECT_EQ(testing::WaitFor(child), 0);
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

}  // namespace
}  // namespace hearth
