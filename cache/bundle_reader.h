// Reads a bundle (a folder or one file): its manifest, and its entries one by one.
#ifndef HEARTH_CACHE_BUNDLE_READER_H_
#define HEARTH_CACHE_BUNDLE_READER_H_

#include <array>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cache/database.h"
#include "cache/signed_manifest.h"
#include "core/base/fingerprint.h"

namespace hearth {

// A key with its blob.
struct BundleEntry {
  CacheKey key{BlobKind::kPlan};
  std::vector<std::byte> bytes;
  double cost_ms = 0;
};

// The verified entry in a row of `kBundleColumns`; nullopt if it is damaged.
inline constexpr const char* kBundleColumns =
    "SELECT digest, kind, material, size_bytes, cost_ms, created_ms, last_used_ms, id, origin, checksum FROM entries";
std::optional<BundleEntry> LoadSound(Database& database, Statement& row);

class BundleReader {
 public:
  // Reads the manifest and looks for its signer, and nothing else. The rules of read-only layers apply (folder.h).
  // kNotFound: there is no bundle. kIoError: it is damaged or refused. Expiry and least version are not checked.
  static Result<std::unique_ptr<BundleReader>> Open(const std::filesystem::path& bundle,
                                                    std::span<const PublicKey> trusted_keys);
  virtual ~BundleReader() = default;

  const Manifest& manifest() const { return signed_.manifest; }
  const std::string& signed_by() const { return signed_.signed_by; }
  const std::array<uint8_t, 32>& manifest_sha256() const { return signed_.sha256; }

  // Checks the entry with this index against the manifest, including the device in its key. kIoError says what is
  // wrong. Allocates nothing for bytes that the manifest only claims, since a sparse file can have any length. The
  // first call may check the whole bundle.
  Status Check(size_t entry);
  // Returns an entry. Checks it first if Check has not, and checks the returned bytes again.
  Result<BundleEntry> Load(size_t entry);

 protected:
  explicit BundleReader(SignedManifest manifest)
      : signed_(std::move(manifest)), is_checked_(signed_.manifest.entries.size()) {}
  struct Found {
    CacheKey key{BlobKind::kPlan};
    double cost_ms = 0;
  };

 private:
  // Reads the stored bytes, which have the size in the manifest.
  virtual Result<Found> Find(const ManifestEntry& promised, size_t number) = 0;
  // Reads from `at` on in the blob that was found last.
  virtual Status Read(size_t number, uint64_t at, std::span<std::byte> bytes) = 0;
  Result<Found> FindAsPromised(size_t number);
  SignedManifest signed_;
  std::vector<bool> is_checked_;
};

}  // namespace hearth

#endif  // HEARTH_CACHE_BUNDLE_READER_H_
