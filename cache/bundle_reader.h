// A bundle that lies somewhere, as a folder or as one file: what it promises, and its entries one by one.
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

  // Whether all that the manifest promises of an entry, by its number, is so, and the device that its key names is the
  // manifest's. kIoError says what is wrong. Takes no memory for what may only be said to be there: a file has any
  // length on a disk that holds none of it. The first call may look at the whole bundle.
  Status Check(size_t entry);
  // What was checked, at the latest now, and is checked again as the bytes that it is.
  Result<BundleEntry> Load(size_t entry);

 protected:
  explicit BundleReader(SignedManifest manifest)
      : signed_(std::move(manifest)), is_checked_(signed_.manifest.entries.size()) {}
  struct Found {
    CacheKey key{BlobKind::kPlan};
    double cost_ms = 0;
  };

 private:
  // What lies there, of the size that was promised.
  virtual Result<Found> Find(const ManifestEntry& promised, size_t number) = 0;
  // Of the blob that was found last, from `at` on.
  virtual Status Read(size_t number, uint64_t at, std::span<std::byte> bytes) = 0;
  Result<Found> FindAsPromised(size_t number);
  SignedManifest signed_;
  std::vector<bool> is_checked_;
};

}  // namespace hearth

#endif  // HEARTH_CACHE_BUNDLE_READER_H_
