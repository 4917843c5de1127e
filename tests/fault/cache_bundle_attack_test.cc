// Bundles that are not what they should be: links, pipes, files of others, files without an end, files that change.
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

#include "cache/desk/bundle.h"
#include "cache/sources/bundle_file.h"
#include "cache/sources/bundle_reader.h"
#include "cache/sources/layer.h"
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

struct SignedBundle {
  SignedBundle() {
    key.seed.fill(7);
    const auto store = source.Open();
    PutOne(*store, NumberedKey(1), NumberedBlob(1, 1000));
    store->Flush();
    const auto exported = ExportBundle({.store = source.path(), .bundle = file, .sign_with = key});
    EXPECT_TRUE(exported.ok()) << exported.status().message();
    trusted = {*PublicKeyOf(key)};
  }
  Result<BundleImport> Import() const {
    return ImportBundle({.bundle = file, .store = target.path(), .trusted_keys = trusted});
  }

  SigningKey key;
  std::vector<PublicKey> trusted;
  CacheFolder source, target, parent;
  fs::path file = parent.path() / "bundle.tar", elsewhere = parent.path() / "elsewhere";
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

TEST(CacheBundleAttacks, OnlyAFileOfOnesOwnIsRead) {
  if (!HasSignatures()) GTEST_SKIP() << "this build has no signatures (HEARTH_WITH_SODIUM)";
  for (const Attack& attack : Attacks()) {
    SCOPED_TRACE(attack.what);
    const SignedBundle bundle;
    ASSERT_TRUE(OpenLayer({bundle.file, bundle.trusted}).ok());
    attack.change(bundle.file, bundle.elsewhere);
    EXPECT_FALSE(bundle.Import().ok());
    EXPECT_FALSE(OpenLayer({bundle.file, bundle.trusted}).ok());
    EXPECT_FALSE(BundleReader::Open(bundle.file, {}).ok());
    EXPECT_FALSE(fs::exists(bundle.target.file())) << "something was stored";
  }
}

// Of a terabyte that no disk holds.
TEST(CacheBundleAttacks, TextsWithoutAnEndAreRefusedUnread) {
  for (const char* name : {kManifestName, kSignatureName}) {
    const SignedBundle bundle;
    std::string forged = ReadFile(bundle.file);
    const TarHeader header = MakeTarHeader(name, kMaxTarMemberBytes);
    const size_t at = forged.find(name);
    if (at == std::string::npos) GTEST_SKIP() << "this build has no signatures (HEARTH_WITH_SODIUM)";
    WriteFile(bundle.file,
              forged.replace(at, header.size(), reinterpret_cast<const char*>(header.data()), header.size()));
    if (::truncate(bundle.file.c_str(), off_t{1} << 40) != 0) GTEST_SKIP() << "no file of a terabyte here";
    EXPECT_FALSE(bundle.Import().ok()) << name;
    EXPECT_FALSE(OpenLayer({bundle.file, bundle.trusted}).ok()) << name;
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
  const Carried older;
  for (const auto& [key, blob] : entries) PutOne(*older.source.Open(), key, NumberedBlob(9, 2000));
  ASSERT_TRUE(older.Export(keys.secret()).ok());
  for (int change = 0; change < 5; ++change) {
    SCOPED_TRACE(fmt::format("change {}", change));
    const Carried carried;
    ASSERT_TRUE(carried.Export(keys.secret()).ok());
    auto source = OpenLayer({carried.bundle, keys.trusted()});
    ASSERT_TRUE(source.ok()) << source.status().message();
    const auto layer = testing::WithLayer(std::move(*source));
    EXPECT_EQ(layer->Get(entries[0].first), entries[0].second);
    const std::string before = ReadFile(carried.bundle);
    if (change == 0) fs::resize_file(carried.bundle, 0);
    if (change == 1) WriteFile(carried.bundle, std::string(before.size(), '\x5a'));
    if (change == 2) WriteFile(carried.bundle, ReadFile(older.bundle));
    if (change == 3) WriteFile(carried.bundle, before.substr(0, before.size() / 2));
    if (change == 4) fs::remove(carried.bundle);
    for (const auto& [key, blob] : entries) {
      const auto found = layer->Get(key);
      EXPECT_TRUE(!found || *found == blob);
    }
    layer->ForEach(CacheKey(BlobKind::kPlan), [&](const CacheKey& key, std::span<const std::byte> bytes) {
      EXPECT_EQ(key.material(), entries[0].first.material());
      EXPECT_TRUE(std::ranges::equal(bytes, entries[0].second));
    });
  }
}

}  // namespace
}  // namespace hearth
