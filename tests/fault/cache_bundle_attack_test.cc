// Bundle folders whose files are not what they should be: links, pipes, files of others, files without an end.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "cache/bundle.h"
#include "cache/bundle_reader.h"
#include "cache/layer.h"
#include "cache/reports.h"
#include "tests/testing/carried_bundle.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;
using testing::CacheFolder;
using testing::Carried;
using testing::KeyFiles;
using testing::NativeKey;
using testing::NumberedBlob;
using testing::NumberedKey;
using testing::PutOne;
using testing::ReadFile;
using testing::WriteFile;

struct SignedFolder {
  SignedFolder() {
    key.seed.fill(7);
    const auto store = source.Open();
    PutOne(*store, NumberedKey(1), NumberedBlob(1, 1000));
    store->Flush();
    const auto exported = ExportBundle({.store = source.path(), .bundle = folder, .sign_with = key});
    EXPECT_TRUE(exported.ok()) << exported.status().message();
    trusted = {*PublicKeyOf(key)};
  }
  Result<BundleImport> Import() const {
    return ImportBundle({.bundle = folder, .store = target.path(), .trusted_keys = trusted});
  }

  SigningKey key;
  std::vector<PublicKey> trusted;
  CacheFolder source, target, parent;
  fs::path folder = parent.path() / "bundle", elsewhere = parent.path() / "elsewhere";
};

struct Attack {
  const char* what;
  std::function<void(const fs::path& file, const fs::path& elsewhere)> change;
};

std::vector<Attack> Attacks() {
  std::vector<Attack> attacks = {
      {"a link to what it was",
       [](const fs::path& file, const fs::path& elsewhere) {
         fs::rename(file, elsewhere);
         fs::create_symlink(elsewhere, file);
       }},
      {"a link to nothing",
       [](const fs::path& file, const fs::path& elsewhere) {
         fs::remove(file);
         fs::create_symlink(elsewhere, file);
       }},
      {"a link to a device",
       [](const fs::path& file, const fs::path&) {
         fs::remove(file);
         fs::create_symlink("/dev/zero", file);
       }},
      {"a pipe",
       [](const fs::path& file, const fs::path&) {
         fs::remove(file);
         ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
       }},
      {"a folder",
       [](const fs::path& file, const fs::path&) {
         fs::remove(file);
         fs::create_directory(file);
       }},
      {"writable by others", [](const fs::path& file, const fs::path&) { ASSERT_EQ(::chmod(file.c_str(), 0606), 0); }},
  };
  if (::geteuid() == 0) {
    attacks.push_back({"a hard link to another user's file", [](const fs::path& file, const fs::path& elsewhere) {
                         fs::create_hard_link(file, elsewhere);
                         ASSERT_EQ(::chown(elsewhere.c_str(), 12345, 12345), 0);
                       }});
  }
  return attacks;
}

TEST(CacheBundleAttacks, OnlyAFoldersOwnFilesAreRead) {
  if (!HasSignatures()) GTEST_SKIP() << "this build has no signatures (HEARTH_WITH_SODIUM)";
  for (const char* name : {"manifest.txt", "manifest.sig", "hearth.db"}) {
    for (const Attack& attack : Attacks()) {
      SCOPED_TRACE(std::string(name) + " is " + attack.what);
      const SignedFolder bundle;
      ASSERT_TRUE(OpenLayer({bundle.folder, bundle.trusted}).ok());
      attack.change(bundle.folder / name, bundle.elsewhere);
      EXPECT_FALSE(bundle.Import().ok());
      EXPECT_FALSE(OpenLayer({bundle.folder, bundle.trusted}).ok());
      if (std::string_view(name) != "hearth.db") {
        EXPECT_FALSE(BundleReader::Open(bundle.folder, {}).ok());
      }
      EXPECT_FALSE(fs::exists(bundle.target.file())) << "something was stored";
    }
  }
}

// Of a terabyte that no disk holds.
TEST(CacheBundleAttacks, TextsWithoutAnEndAreRefusedUnread) {
  if (!HasSignatures()) GTEST_SKIP() << "this build has no signatures (HEARTH_WITH_SODIUM)";
  for (const char* name : {"manifest.txt", "manifest.sig"}) {
    const SignedFolder bundle;
    const fs::path file = bundle.folder / name;
    if (::truncate(file.c_str(), off_t{1} << 40) != 0) GTEST_SKIP() << "no file of a terabyte here";
    EXPECT_FALSE(bundle.Import().ok()) << name;
    EXPECT_FALSE(OpenLayer({bundle.folder, bundle.trusted}).ok()) << name;
  }
}

// By who may write it: an update that copies over it, an older bundle of the same key, nothing at all.
TEST(CacheBundleAttacks, ALayerThatChangesUnderAnOpenSessionGivesRightBytesOrNone) {
  SKIP_WITHOUT_SIGNATURES();
  const KeyFiles keys;
  const std::vector<std::pair<CacheKey, std::vector<std::byte>>> entries = {
      {NumberedKey(1, BlobKind::kPlan), NumberedBlob(1, 1000)},
      {NativeKey("conv", "1.0"), NumberedBlob(2, 2000)},
      {NativeKey("conv", "2.0"), NumberedBlob(3, 0)}};
  const Carried older("older.tar"), older_folder("older");
  for (const Carried* other : {&older, &older_folder}) {
    for (const auto& [key, blob] : entries) PutOne(*other->source.Open(), key, NumberedBlob(9, 2000));
    ASSERT_TRUE(other->Export(keys.secret()).ok());
  }
  for (const char* name : {"bundle", "bundle.tar"}) {
    for (int change = 0; change < 5; ++change) {
      SCOPED_TRACE(fmt::format("{}, change {}", name, change));
      const Carried carried(name);
      ASSERT_TRUE(carried.Export(keys.secret()).ok());
      const bool is_file = fs::is_regular_file(carried.bundle);
      const fs::path holder = is_file ? carried.bundle : carried.bundle / "hearth.db";
      const auto layer = OpenLayer({carried.bundle, keys.trusted()});
      ASSERT_TRUE(layer.ok()) << layer.status().message();
      EXPECT_EQ((*layer)->Get(entries[0].first), entries[0].second);
      const std::string before = ReadFile(holder);
      if (change == 0) fs::resize_file(holder, 0);
      if (change == 1) WriteFile(holder, std::string(before.size(), '\x5a'));
      if (change == 2) WriteFile(holder, ReadFile(is_file ? older.bundle : older_folder.bundle / "hearth.db"));
      if (change == 3) WriteFile(holder, before.substr(0, before.size() / 2));
      if (change == 4) fs::remove(holder);
      for (const auto& [key, blob] : entries) {
        const auto found = (*layer)->Get(key);
        EXPECT_TRUE(!found || *found == blob);
      }
      (*layer)->ForEach(CacheKey(BlobKind::kPlan), [&](const CacheKey& key, std::span<const std::byte> bytes) {
        EXPECT_EQ(key.material(), entries[0].first.material());
        EXPECT_TRUE(std::ranges::equal(bytes, entries[0].second));
      });
    }
  }
}

}  // namespace
}  // namespace hearth
