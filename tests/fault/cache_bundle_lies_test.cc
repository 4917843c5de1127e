// Bundles that promise what they do not have: memory, entries, a base.
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <string>

#include "cache/bundle_file.h"
#include "cache/bundle_reader.h"
#include "cache/database.h"
#include "cache/layer.h"
#include "cache/reports.h"
#include "cache/tar.h"
#include "core/base/sha256.h"
#include "tests/testing/carried_bundle.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;
using testing::CacheFolder;
using testing::Carried;
using testing::ExitCodeInLittleMemory;
using testing::KeyFiles;
using testing::ManifestOf;
using testing::NumberedBlob;
using testing::NumberedKey;
using testing::PutOne;
using testing::ReadFile;
using testing::WriteFile;

Result<BundleImport> ImportTrustingAll(const fs::path& bundle, const CacheFolder& target) {
  return ImportBundle({.bundle = bundle, .store = target.path(), .is_trusted = true});
}

// A file of any length takes no disk where nothing was written.
TEST(CacheBundleLies, ABlobThatIsOnlySaidToBeThereTakesNoMemory) {
  constexpr uint64_t kClaimedBytes = 400'000'000;
  const Carried carried("bundle.tar");
  const CacheKey key = NumberedKey(1);
  Manifest manifest;
  ManifestEntry& entry = manifest.entries.emplace_back();
  entry.kind = key.kind();
  entry.digest = key.digest();
  entry.size_bytes = kClaimedBytes;
  entry.material_sha256 = Sha256Of(std::as_bytes(std::span(key.material())));
  entry.material_bytes = key.material().size();
  {
    auto writer = BundleFileWriter::Create(carried.bundle);
    ASSERT_TRUE(writer.ok() && writer->AddTexts({manifest.ToText(), ""}).ok());
    ASSERT_TRUE(writer->AddEntry(key.digest(), key.material(), {}).ok() && writer->Finish().ok());
  }
  const std::string small = ReadFile(carried.bundle);
  const size_t header_at = small.find(key.digest().ToHex() + ".blob");
  const TarHeader header = MakeTarHeader(key.digest().ToHex() + ".blob", kClaimedBytes);
  std::string lying = small.substr(0, header_at);
  lying.append(reinterpret_cast<const char*>(header.data()), header.size());
  WriteFile(carried.bundle, lying);
  fs::resize_file(carried.bundle, lying.size() + TarBytes(kClaimedBytes) + 2 * kTarBlockBytes);
  EXPECT_EQ(ExitCodeInLittleMemory([&carried] {
              const auto imported = ImportTrustingAll(carried.bundle, carried.target);
              return imported.status().message().find("does not match its manifest") != std::string::npos;
            }),
            0);
}

TEST(CacheBundleLies, AManifestPromisesNoMoreThanAStoreTakes) {
  const Carried carried;
  ASSERT_TRUE(carried.Export().ok());
  const Manifest sound = ManifestOf(carried.bundle);
  EXPECT_TRUE(Manifest::FromText(sound.ToText()).ok());
  const auto expect_malformed = [&sound](const std::function<void(Manifest&)>& change) {
    Manifest lying = sound;
    change(lying);
    EXPECT_EQ(Manifest::FromText(lying.ToText()).status().code(), StatusCode::kMalformedInput);
  };
  expect_malformed([](Manifest& lying) { lying.entries[0].size_bytes = kMaxEntryBytes + 1; });
  expect_malformed([](Manifest& lying) { lying.entries[0].material_bytes = kMaxMaterialBytes + 1; });
  expect_malformed([](Manifest& lying) { lying.entries.push_back(lying.entries[0]); });
  expect_malformed([](Manifest& lying) { lying.devices.resize(kMaxDevices + 1); });
}

TEST(CacheBundleLies, AManifestOfNothingButBlanksOrLineEndsTakesNoMemory) {
  for (const char filler : {' ', '\n'}) {
    const std::string text = "hearth-bundle 1\n" + std::string(32 << 20, filler) + "\n";
    EXPECT_EQ(ExitCodeInLittleMemory([&text] { return !Manifest::FromText(text).ok(); }), 0);
  }
}

// What making an entry took decides how long others wait for it and when it is evicted.
TEST(CacheBundleLies, TheCostOfASignedEntryIsTheOneThatWasSigned) {
  SKIP_WITHOUT_SIGNATURES();
  const KeyFiles keys;
  const Carried carried;
  ASSERT_TRUE(carried.Export(keys.secret()).ok());
  {
    auto database = Database::Open(carried.bundle / "hearth.db", Database::Access::kReadWrite);
    ASSERT_TRUE(database.ok() && database->Run("UPDATE entries SET cost_ms=1e9").ok());
  }
  ImportRequest request = carried.Request();
  request.trusted_keys = keys.trusted();
  ASSERT_TRUE(ImportBundle(request).ok());
  const auto entries = ListEntries(carried.target.path());
  ASSERT_TRUE(entries.ok());
  EXPECT_EQ(entries->size(), 3u);
  for (const CacheEntry& entry : *entries) EXPECT_LT(entry.cost_ms, 10);
}

TEST(CacheBundleLies, ABundleThatWasUnpackedOrIsInPartsSaysWhatToDo) {
  const auto expect_told = [](const fs::path& bundle, const CacheFolder& target, const std::string& what) {
    const auto imported = ImportTrustingAll(bundle, target);
    EXPECT_NE(imported.status().message().find(what), std::string::npos) << imported.status().message();
    EXPECT_NE(imported.status().message().find(bundle.string()), std::string::npos) << imported.status().message();
  };
  const Carried file("bundle.tar");
  ASSERT_TRUE(file.Export().ok());
  const fs::path unpacked = file.parent.path() / "unpacked";
  fs::create_directory(unpacked);
  fs::permissions(unpacked, fs::perms::owner_all);
  WriteFile(unpacked / "manifest.txt", ManifestOf(file.bundle).ToText());
  for (const ManifestEntry& entry : ManifestOf(file.bundle).entries) {
    WriteFile(unpacked / (entry.digest.ToHex() + ".key"), "");
    WriteFile(unpacked / (entry.digest.ToHex() + ".blob"), "");
  }
  expect_told(unpacked, file.target, "name the .tar itself");
  fs::resize_file(file.bundle, fs::file_size(file.bundle) - 512);
  expect_told(file.bundle, file.target, "copy it again");

  const Carried folder;
  ASSERT_TRUE(folder.Export().ok());
  fs::remove(folder.bundle / "hearth.db");
  expect_told(folder.bundle, folder.target, "copy it again");
  fs::remove(folder.bundle / "manifest.txt");
  expect_told(folder.bundle, folder.target, "name the folder or the .tar");
  expect_told(folder.source.path(), folder.target, "hearth cache export");
}

TEST(CacheBundleLies, ASignedLayerThatWasUnpackedSaysWhatToDo) {
  SKIP_WITHOUT_SIGNATURES();
  const KeyFiles keys;
  const Carried carried;
  ASSERT_TRUE(carried.Export(keys.secret()).ok());
  fs::remove(carried.bundle / "hearth.db");
  WriteFile(carried.bundle / "0123.key", "");
  const auto layer = OpenLayer({carried.bundle, keys.trusted()});
  EXPECT_NE(layer.status().message().find("name the .tar itself"), std::string::npos) << layer.status().message();
}

TEST(CacheBundleLies, ABundleThatIsMadeUnderAnyUmaskIsTaken) {
  for (const char* name : {"bundle", "bundle.tar"}) {
    const Carried carried(name);
    const mode_t before = ::umask(0);
    const bool is_exported = carried.Export().ok();
    ::umask(before);
    ASSERT_TRUE(is_exported);
    const auto imported = ImportTrustingAll(carried.bundle, carried.target);
    EXPECT_TRUE(imported.ok()) << imported.status().message();
  }
}

class CacheBundleBase : public ::testing::TestWithParam<const char*> {
 protected:
  // What the base is, and then what is exported since it.
  fs::path base() const { return carried_.parent.path() / GetParam(); }
  Result<BundleExport> ExportBase(const std::optional<SigningKey>& key, int64_t expires_ms = 0) const {
    ExportRequest request = carried_.ExportRequestFor(key);
    request.bundle = base();
    request.expires_ms = expires_ms;
    return ExportBundle(request);
  }
  Result<BundleExport> ExportSince(const std::optional<SigningKey>& key, std::vector<PublicKey> trusted = {}) const {
    ExportRequest request = carried_.ExportRequestFor(key);
    request.since = base();
    request.trusted_keys = std::move(trusted);
    return ExportBundle(request);
  }
  void ExpectRefused(const Result<BundleExport>& exported, const std::string& why) const {
    EXPECT_EQ(exported.status().code(), StatusCode::kIoError);
    EXPECT_NE(exported.status().message().find(base().string()), std::string::npos) << exported.status().message();
    EXPECT_NE(exported.status().message().find(why), std::string::npos) << exported.status().message();
    EXPECT_FALSE(fs::exists(carried_.bundle)) << "something unfinished was left";
  }

  Carried carried_{"delta.tar"};
};

INSTANTIATE_TEST_SUITE_P(FileAndFolder, CacheBundleBase, ::testing::Values("base.tar", "base"));

TEST_P(CacheBundleBase, ThatHasNotWhatItPromisesIsRefused) {
  ASSERT_TRUE(ExportBase(std::nullopt).ok());
  const fs::path holder = fs::is_directory(base()) ? base() / "hearth.db" : base();
  std::string bytes = ReadFile(holder);
  const std::vector<std::byte> blob = NumberedBlob(2, 2000);
  const size_t at = bytes.find(std::string(reinterpret_cast<const char*>(blob.data()), 100));
  ASSERT_NE(at, std::string::npos);
  bytes[at] ^= 1;
  WriteFile(holder, bytes);
  ExpectRefused(ExportSince(std::nullopt), "does not match its manifest");
}

TEST_P(CacheBundleBase, WhoseEntriesAreGoneIsRefused) {
  ASSERT_TRUE(ExportBase(std::nullopt).ok());
  const fs::path holder = fs::is_directory(base()) ? base() / "hearth.db" : base();
  fs::resize_file(holder, 3 * kTarBlockBytes);
  ExpectRefused(ExportSince(std::nullopt), "");
}

TEST_P(CacheBundleBase, ThatNoTrustedKeySignedIsRefusedWhereThereAreKeys) {
  SKIP_WITHOUT_SIGNATURES();
  const KeyFiles keys, stranger;
  ASSERT_TRUE(ExportBase(std::nullopt).ok());
  ExpectRefused(ExportSince(keys.secret()), "no trusted key has signed it");
  ExpectRefused(ExportSince(std::nullopt, keys.trusted()), "no trusted key has signed it");
  fs::remove_all(base());
  ASSERT_TRUE(ExportBase(stranger.secret()).ok());
  ExpectRefused(ExportSince(keys.secret()), "no trusted key has signed it");
  ASSERT_TRUE(ExportSince(keys.secret(), stranger.trusted()).ok()) << "who signs may trust another's base";
}

TEST_P(CacheBundleBase, ThatHasExpiredIsRefused) {
  ASSERT_TRUE(ExportBase(std::nullopt, 1000).ok());
  ExpectRefused(ExportSince(std::nullopt), "expired");
}

TEST_P(CacheBundleBase, IsNamedToWhoGetsTheDelta) {
  SKIP_WITHOUT_SIGNATURES();
  const KeyFiles keys;
  ASSERT_TRUE(ExportBase(keys.secret()).ok());
  PutOne(*carried_.source.Open(), NumberedKey(7), NumberedBlob(7, 70));
  const auto exported = ExportSince(keys.secret());
  ASSERT_TRUE(exported.ok()) << exported.status().message();
  EXPECT_EQ(exported->entries, 1u);
  EXPECT_EQ(exported->left_out, 3u);
  ImportRequest request = carried_.Request();
  request.trusted_keys = keys.trusted();
  const auto imported = ImportBundle(request);
  ASSERT_TRUE(imported.ok()) << imported.status().message();
  EXPECT_EQ(imported->left_out, 3u);
  EXPECT_EQ(imported->since, HexOf((*BundleReader::Open(base(), {}))->manifest_sha256()));
  request.bundle = base();
  EXPECT_TRUE(ImportBundle(request)->since.empty());
  EXPECT_EQ(ListEntries(carried_.target.path())->size(), 4u);
}

}  // namespace
}  // namespace hearth
