// Reads a bundle: its manifest, and its entries one by one.
#ifndef HEARTH_CACHE_SOURCES_BUNDLE_READER_H_
#define HEARTH_CACHE_SOURCES_BUNDLE_READER_H_

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cache/sources/bundle_file.h"

namespace hearth {

// A key with its blob.
struct BundleEntry {
  CacheKey key{BlobKind::kPlan};
  std::vector<std::byte> bytes;
  double cost_ms = 0;
};

class BundleReader {
 public:
  // Reads the manifest and looks for its signer, and nothing else. The rules of read-only layers apply (folder.h).
  // kNotFound: there is no bundle. kIoError: it is damaged or refused. Expiry and least version are not checked.
  static Result<BundleReader> Open(const std::filesystem::path& bundle, std::span<const PublicKey> trusted_keys);

  const Manifest& manifest() const { return signed_.manifest; }
  const std::string& signed_by() const { return signed_.signed_by; }
  const std::string& key_id() const { return signed_.key_id; }
  const std::array<uint8_t, 32>& manifest_sha256() const { return signed_.sha256; }

  // Checks the entry with this index against the manifest, including the device in its key, and gives the size of its
  // blob. kIoError says what is wrong. Allocates nothing for bytes that the manifest only claims, since a sparse file
  // can have any length. The first call checks the length of the whole bundle.
  Result<uint64_t> Check(size_t entry);
  // Returns an entry. Checks it first if Check has not, and checks the returned bytes again.
  Result<BundleEntry> Load(size_t entry);

 private:
  BundleReader(BundleFile file, SignedManifest manifest)
      : file_(std::move(file)), signed_(std::move(manifest)), is_checked_(signed_.manifest.entries.size()) {}
  Result<BundleFile::Head> HeadAsPromised(size_t entry);

  BundleFile file_;
  SignedManifest signed_;
  std::vector<bool> is_checked_;
  std::optional<Status> located_;
};

}  // namespace hearth

#endif  // HEARTH_CACHE_SOURCES_BUNDLE_READER_H_
