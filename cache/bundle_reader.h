// Reads a bundle, a folder or one file: its manifest, and its entries one by one.
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

// The entry that a row of `kBundleColumns` describes, wholly verified; nullopt when it is damaged.
inline constexpr const char* kBundleColumns =
    "SELECT digest, kind, material, size_bytes, cost_ms, created_ms, last_used_ms, id, origin, checksum FROM entries";
std::optional<BundleEntry> LoadSound(Database& database, const Statement& row);

class BundleReader {
 public:
  // Reads the manifest and looks for its signer, and nothing else. Under the rules of read-only layers (folder.h).
  // kNotFound: no bundle there. kIoError: it is damaged or refused; whether it is still to be used is not asked.
  static Result<std::unique_ptr<BundleReader>> Open(const std::filesystem::path& bundle,
                                                    std::span<const PublicKey> trusted_keys);
  virtual ~BundleReader() = default;

  const Manifest& manifest() const { return signed_.manifest; }
  const std::string& signed_by() const { return signed_.signed_by; }
  const std::array<uint8_t, 32>& manifest_sha256() const { return signed_.sha256; }

  // Checks an entry, by its number, against the manifest, including the device in its key. kIoError says what is wrong.
  // Takes no memory for bytes that the manifest only claims, since a sparse file can have any length. The first call
  // may check the whole bundle.
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
  // Reads the stored bytes, of the promised size.
  virtual Result<Found> Find(const ManifestEntry& promised, size_t number) = 0;
  // Reads from the blob that was found last, from `at` on.
  virtual Status Read(size_t number, uint64_t at, std::span<std::byte> bytes) = 0;
  Result<Found> FindAsPromised(size_t number);
  SignedManifest signed_;
  std::vector<bool> is_checked_;
};

}  // namespace hearth

#endif  // HEARTH_CACHE_BUNDLE_READER_H_
