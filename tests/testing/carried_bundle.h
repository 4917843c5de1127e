// A store for making bundles, keys for signing them, and a way to forge them.
#ifndef HEARTH_TESTS_TESTING_CARRIED_BUNDLE_H_
#define HEARTH_TESTS_TESTING_CARRIED_BUNDLE_H_

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cache/desk/bundle.h"
#include "cache/sources/bundle_file.h"
#include "cache/sources/bundle_reader.h"
#include "cache/trust/signature.h"
#include "tests/testing/cache_folder.h"

namespace hearth::testing {

inline CacheKey NativeKey(const std::string& kernel, const std::string& driver) {
  CacheKey key(BlobKind::kProgram);
  key.Add("backend", "opencl").Add("device", "GPU with 100% \xc3\xa4").Add("driver", driver).Add("uuid", "");
  key.Add("kernel", kernel);
  return key;
}

// A store with a plan and two programs for different drivers, a bundle of it, and the target folder.
struct Carried {
  Carried() {
    const auto store = source.Open();
    PutOne(*store, NumberedKey(1, BlobKind::kPlan), NumberedBlob(1, 1000), 5);
    PutOne(*store, NativeKey("conv", "1.0"), NumberedBlob(2, 2000), 6);
    PutOne(*store, NativeKey("conv", "2.0"), NumberedBlob(3, 0), 7);
  }
  ExportRequest ExportRequestFor(const std::optional<SigningKey>& key) const {
    return {source.path(), bundle, {}, key, "1.2.3"};
  }
  Result<BundleExport> Export(const std::optional<SigningKey>& key = std::nullopt) const {
    return ExportBundle(ExportRequestFor(key));
  }
  ImportRequest Request() const { return {bundle, target.path()}; }
  Result<BundleImport> ImportTrusting() const {
    ImportRequest request = Request();
    request.is_trusted = true;
    return ImportBundle(request);
  }

  CacheFolder source, target, parent;
  std::filesystem::path bundle = parent.path() / "bundle.tar";
};

// What is in a bundle. Precondition of Unpack: it can be read.
struct Unpacked {
  BundleTexts texts;
  std::vector<std::pair<Fingerprint, std::vector<std::byte>>> envelopes;
};
inline Unpacked Unpack(const std::filesystem::path& bundle) {
  BundleFile file = std::move(BundleFile::Open(bundle)).value();
  Unpacked unpacked{file.ReadTexts().value(), {}};
  const Manifest manifest = Manifest::FromText(unpacked.texts.manifest).value();
  EXPECT_TRUE(file.Locate(manifest).ok());
  for (size_t k = 0; k < manifest.entries.size(); ++k) {
    std::vector<std::byte> envelope(manifest.entries[k].size_bytes);
    EXPECT_TRUE(file.ReadEntry(k, 0, envelope).ok());
    unpacked.envelopes.emplace_back(manifest.entries[k].digest, std::move(envelope));
  }
  return unpacked;
}
// In place of the bundle that is there.
inline void Pack(const Unpacked& unpacked, const std::filesystem::path& bundle) {
  std::filesystem::remove(bundle);
  auto writer = BundleFileWriter::Create(bundle);
  ASSERT_TRUE(writer.ok()) << writer.status().message();
  ASSERT_TRUE(writer->AddTexts(unpacked.texts).ok());
  for (const auto& [digest, envelope] : unpacked.envelopes) ASSERT_TRUE(writer->AddEntry(digest, envelope).ok());
  ASSERT_TRUE(writer->Finish().ok());
}

// Precondition: the manifest can be read.
inline Manifest ManifestOf(const std::filesystem::path& bundle) {
  return BundleReader::Open(bundle, {})->manifest();
}

#define SKIP_WITHOUT_SIGNATURES() \
  if (!HasSignatures()) GTEST_SKIP() << "this build has no signatures (HEARTH_WITH_SODIUM)"

// A key pair in files.
struct KeyFiles {
  KeyFiles() { made = MakeSigningKey(folder.path() / "key").ok(); }
  SigningKey secret() const { return *ReadSigningKey(folder.path() / "key"); }
  std::vector<PublicKey> trusted() const { return *ReadPublicKeys(folder.path() / "key.pub"); }
  CacheFolder folder;
  bool made = false;
};

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_TESTING_CARRIED_BUNDLE_H_
