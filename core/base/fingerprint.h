// Content-derived cache keys: XXH3-128 over a canonical encoding of every input of the
// computation that a cache entry replaces (XXH3: https://xxhash.com, 128-bit variant).
#ifndef HEARTH_CORE_BASE_FINGERPRINT_H_
#define HEARTH_CORE_BASE_FINGERPRINT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hearth/status.h"

namespace hearth {

struct Fingerprint {
  std::array<uint8_t, 16> bytes{};

  std::string ToHex() const;  // 32 hex digits
  friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
  friend auto operator<=>(const Fingerprint&, const Fingerprint&) = default;  // NOLINT(modernize-use-nullptr): its 0
};

Fingerprint FingerprintOf(std::span<const std::byte> bytes);

// With a secret of kFingerprintSecretBytes random bytes: without knowing it nobody can make bytes with a given digest.
inline constexpr size_t kFingerprintSecretBytes = 192;
Fingerprint SecretFingerprintOf(std::span<const std::byte> bytes, std::span<const std::byte> secret);

// The same digest as FingerprintOf. Calls `after_piece` after every `piece_bytes`, so that mapped pages can be
// released.
Fingerprint FingerprintInPieces(std::span<const std::byte> bytes, size_t piece_bytes,
                                const std::function<void(std::span<const std::byte>)>& after_piece);

// The content of a cache entry; `hearth cache ls` prints its name.
enum class BlobKind : uint8_t { kSource, kWeights, kPlan, kProgram, kTuning, kProbe, kDriverBlob };
std::string_view BlobKindName(
    BlobKind kind);  // "source", "weights", "plan", "program", "tuning", "probe", "driver-blob"
inline constexpr int kBlobKindCount = 7;

// A key with its full material: named fields in the order they were added. `material` is the
// canonical encoding: per field u32 name length, name, u64 value length, value (little-endian).
class CacheKey {
 public:
  explicit CacheKey(BlobKind kind) : kind_(kind) {}

  CacheKey& Add(std::string_view field, std::string_view text);
  CacheKey& Add(std::string_view field, int64_t number);
  CacheKey& Add(std::string_view field, const Fingerprint& digest);
  // A long input: stored as its SHA-256 and length.
  CacheKey& AddContent(std::string_view field, std::span<const std::byte> bytes);

  BlobKind kind() const { return kind_; }
  const std::string& material() const { return material_; }
  Fingerprint digest() const;  // of kind and material

 private:
  BlobKind kind_;
  std::string material_;
};

// Decodes the field names and values of `material`; an error if it is not such an encoding.
Result<std::vector<std::pair<std::string, std::string>>> DecodeKeyMaterial(std::string_view material);
// nullopt if it is not the material of a key.
std::optional<CacheKey> KeyFromMaterial(BlobKind kind, std::string_view material);

}  // namespace hearth

#endif  // HEARTH_CORE_BASE_FINGERPRINT_H_
