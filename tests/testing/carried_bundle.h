// A store for making bundles, and keys for signing them.
#ifndef HEARTH_TESTS_TESTING_CARRIED_BUNDLE_H_
#define HEARTH_TESTS_TESTING_CARRIED_BUNDLE_H_

#include <optional>
#include <string>
#include <vector>

#include "cache/bundle.h"
#include "cache/bundle_reader.h"
#include "cache/signature.h"
#include "tests/testing/cache_folder.h"

namespace hearth::testing {

inline CacheKey NativeKey(const std::string& kernel, const std::string& driver) {
  CacheKey key(BlobKind::kProgram);
  key.Add("backend", "opencl").Add("device", "GPU with 100% \xc3\xa4").Add("driver", driver).Add("uuid", "");
  key.Add("kernel", kernel);
  return key;
}

// A store with a plan and two programs for different drivers, a bundle of it, and the target folder. `name` is the
// bundle's: a file's or a folder's.
struct Carried {
  explicit Carried(const std::string& name = "bundle") : bundle(parent.path() / name) {
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
  std::filesystem::path manifest() const { return bundle / "manifest.txt"; }

  CacheFolder source, target, parent;
  std::filesystem::path bundle;
};

// Precondition: the manifest can be read.
inline Manifest ManifestOf(const std::filesystem::path& bundle) {
  return (*BundleReader::Open(bundle, {}))->manifest();
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
