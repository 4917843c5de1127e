// Describes a bundle's entries, as a text that can be signed.
//
//   hearth-bundle 1
//   made-by 0.1.0
//   made 1767225600000
//   expires 1798761600000
//   least-version 0.1.0
//   since <SHA-256 of another bundle's manifest> 12
//   device opencl GPU%20name 1.2.3 00112233
//   entry program <digest> <bytes> <SHA-256 of the blob> <SHA-256 of the key's material> 0 <bytes of the material> 12.5
//
// The lines for creation and expiry (milliseconds since 1970), the least version of Hearth, and the base of a delta
// with the number of entries left out are optional. Only a bundle that expires tells when it was made, since the bytes
// of others follow from their entries alone. Values are separated by one blank; characters other than letters, digits
// and "-._~" are written as %XX. An entry has the number of its device line ('-' if it fits every device) and, last,
// the time that making it took, in milliseconds. Bundles of older versions lack the last two values.
#ifndef HEARTH_CACHE_MANIFEST_H_
#define HEARTH_CACHE_MANIFEST_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/base/fingerprint.h"
#include "hearth/cache_types.h"

namespace hearth {

// Limits for promised sizes: the least that sqlite takes, and far more than any key has.
inline constexpr uint64_t kMaxEntryBytes = 1'000'000'000;
inline constexpr uint64_t kMaxMaterialBytes = uint64_t{16} << 20;
inline constexpr size_t kMaxDevices = 10'000;

struct ManifestEntry {
  BlobKind kind = BlobKind::kPlan;
  Fingerprint digest;
  uint64_t size_bytes = 0;
  std::array<uint8_t, 32> blob_sha256{}, material_sha256{};
  std::optional<size_t> device;            // index in Manifest::devices
  std::optional<uint64_t> material_bytes;  // nullopt in bundles of older versions, which lack the cost too
  double cost_ms = 0;
};

// The bundle that a delta extends.
struct ManifestBase {
  std::array<uint8_t, 32> manifest_sha256{};
  uint64_t left_out = 0;  // how many of its entries the delta leaves out
};

struct Manifest {
  std::string made_by;        // Hearth's version
  int64_t made_ms = 0;        // since 1970; 0: not told
  int64_t expires_ms = 0;     // since 1970; 0: never
  std::string least_version;  // of Hearth; empty: any
  std::optional<ManifestBase> base;
  std::vector<CacheDevice> devices;
  std::vector<ManifestEntry> entries;

  std::string ToText() const;
  // kMalformedInput names the line.
  static Result<Manifest> FromText(std::string_view text);

  // kIoError if the bundle has expired or needs another version; says which. Expiry is judged by the later of the clock
  // and the latest time that the cache has seen (latest_time.h), both in milliseconds since 1970.
  Status CheckUsable(int64_t now_ms, std::string_view version, int64_t latest_ms = 0) const;
};

// The numbers of a version like 1.2.3; nullopt for anything else.
std::optional<std::array<uint32_t, 3>> VersionNumbers(std::string_view text);

std::optional<BlobKind> BlobKindFromName(std::string_view name);

// Whether entries of this kind are machine code for one driver.
bool IsNativeCode(BlobKind kind);

// The device that a key names; nullopt for a key that fits every device.
std::optional<CacheDevice> DeviceOf(const CacheKeyFields& fields);

}  // namespace hearth

#endif  // HEARTH_CACHE_MANIFEST_H_
