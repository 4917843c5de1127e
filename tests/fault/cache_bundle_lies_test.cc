// Bundles that promise what they do not have: memory, entries.
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <string>

#include "cache/desk/reports.h"
#include "cache/sources/bundle_file.h"
#include "cache/sources/bundle_reader.h"
#include "cache/sources/layer.h"
#include "cache/trust/envelope.h"
#include "tests/testing/carried_bundle.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;
using testing::CacheFolder;
using testing::Carried;
using testing::ExitCodeInLittleMemory;
using testing::ManifestOf;
using testing::NumberedKey;
using testing::ReadFile;
using testing::WriteFile;

Result<BundleImport> ImportTrustingAll(const fs::path& bundle, const CacheFolder& target) {
  return ImportBundle({.bundle = bundle, .store = target.path(), .is_trusted = true});
}

// A file of any length takes no disk where nothing was written.
TEST(CacheBundleLies, ABlobThatIsOnlySaidToBeThereTakesNoMemory) {
  constexpr uint64_t kClaimedBytes = 400'000'000;
  const Carried carried;
  const CacheKey key = NumberedKey(1);
  const std::vector<std::byte> envelope = MakeEnvelope({.key = &key});
  Manifest manifest;
  ManifestEntry& entry = manifest.entries.emplace_back();
  entry.kind = key.kind();
  entry.digest = key.digest();
  entry.size_bytes = kClaimedBytes;
  testing::Pack({{manifest.ToText(), ""}, {{key.digest(), envelope}}}, carried.bundle);
  const std::string small = ReadFile(carried.bundle), name = key.digest().ToHex() + ".entry";
  const TarHeader header = MakeTarHeader(name, kClaimedBytes);
  std::string lying = small.substr(0, small.find(name));
  lying.append(reinterpret_cast<const char*>(header.data()), header.size());
  lying.append(reinterpret_cast<const char*>(envelope.data()), envelope.size());
  WriteFile(carried.bundle, lying);
  const size_t header_end = lying.size() - envelope.size();
  fs::resize_file(carried.bundle, header_end + TarBytes(kClaimedBytes) + 2 * kTarBlockBytes);
  EXPECT_EQ(ExitCodeInLittleMemory([&carried] {
              const auto imported = carried.ImportTrusting();
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
  expect_malformed([](Manifest& lying) { lying.entries.push_back(lying.entries[0]); });
  expect_malformed([](Manifest& lying) { lying.devices.resize(kMaxDevices + 1); });
}

TEST(CacheBundleLies, AManifestOfNothingButBlanksOrLineEndsTakesNoMemory) {
  for (const char filler : {' ', '\n'}) {
    const std::string text = "hearth-bundle 2\n" + std::string(32 << 20, filler) + "\n";
    EXPECT_EQ(ExitCodeInLittleMemory([&text] { return !Manifest::FromText(text).ok(); }), 0);
  }
}

TEST(CacheBundleLies, ABundleThatWasUnpackedOrIsInPartsSaysWhatToDo) {
  const Carried carried;
  ASSERT_TRUE(carried.Export().ok());
  const auto expect_told = [&](const fs::path& bundle, const std::string& what) {
    const auto imported = ImportTrustingAll(bundle, carried.target);
    EXPECT_NE(imported.status().message().find(what), std::string::npos) << imported.status().message();
    EXPECT_NE(imported.status().message().find(bundle.string()), std::string::npos) << imported.status().message();
  };
  const fs::path unpacked = carried.parent.path() / "unpacked";
  fs::create_directory(unpacked);
  fs::permissions(unpacked, fs::perms::owner_all);
  WriteFile(unpacked / "manifest.txt", ManifestOf(carried.bundle).ToText());
  for (const ManifestEntry& entry : ManifestOf(carried.bundle).entries) {
    WriteFile(unpacked / (entry.digest.ToHex() + ".entry"), "");
  }
  expect_told(unpacked, "name the .tar");
  const Status layer = OpenLayer({unpacked, {}, true}).status();
  EXPECT_NE(layer.message().find("name the .tar"), std::string::npos) << layer.message();
  fs::resize_file(carried.bundle, fs::file_size(carried.bundle) - 512);
  expect_told(carried.bundle, "copy it again");
  expect_told(carried.source.path(), "hearth cache export");
}

TEST(CacheBundleLies, ABundleThatIsMadeUnderAnyUmaskIsTaken) {
  const Carried carried;
  const mode_t before = ::umask(0);
  const bool is_exported = carried.Export().ok();
  ::umask(before);
  ASSERT_TRUE(is_exported);
  const auto imported = carried.ImportTrusting();
  EXPECT_TRUE(imported.ok()) << imported.status().message();
}

}  // namespace
}  // namespace hearth
