// Keys of cache entries: named fields, which are every input of the computation that the entry replaces.
#ifndef HEARTH_CORE_STORE_CACHE_KEY_H_
#define HEARTH_CORE_STORE_CACHE_KEY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/fingerprint.h"
#include "hearth/cache_types.h"
#include "hearth/status.h"

namespace hearth {

// What an entry holds. Each kind has one format.
enum class BlobKind : uint8_t {
  kSource,       // SPIR-V, the part of programs that fits every driver
  kWeights,      // a packed constant
  kPlan,         // a lowered plan
  kProgram,      // a driver's binary, whole or without its SPIR-V (entry_links.h)
  kTuning,       // the measured times of a layer's kernels
  kReadPath,     // the measured times of the ways to read memory
  kDriverBlob,   // for drivers that store their code with us; nothing makes them yet
  kProgramList,  // the binaries that hold a plan's programs
  kSelfTest,     // a device's pass
  kGroupLimit,   // how many work items a driver took in the groups of a model's kernels
};
inline constexpr int kBlobKindCount = 10;

// "source", "weights", "plan", "program", "tuning", "probe-read-path", "driver-blob", "program-list",
// "probe-self-test", "probe-group-limit". `hearth cache ls` prints it.
std::string_view BlobKindName(BlobKind kind);
std::optional<BlobKind> BlobKindFromName(std::string_view name);

// Whether users who ask for `family` mean this kind: its name, or the beginning of its name before a '-' ("probe").
bool IsInKindFamily(std::string_view kind, std::string_view family);

// Whether the entry holds machine code for one driver.
bool IsNativeCode(BlobKind kind);
// Whether a driver reads the entry's bytes, so that damage may crash it.
bool IsReadByDriver(BlobKind kind);

// A key with its full material: named fields in the order they were added. `material` is the canonical encoding: per
// field u32 name length, name, u64 value length, value (little-endian).
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

// The name of long content in keys: its SHA-256 and length.
std::string NameByHash(std::span<const std::byte> bytes);
// The same name from the content's SHA-256 in hex.
std::string NameByDigest(std::string_view sha256_hex, uint64_t size_bytes);

// Decodes the field names and values of `material`; an error if it is not such an encoding.
Result<CacheKeyFields> DecodeKeyMaterial(std::string_view material);
// nullopt if it is not the material of a key.
std::optional<CacheKey> KeyFromMaterial(BlobKind kind, std::string_view material);

// The field's value; empty if there is none.
std::string_view ValueOf(const CacheKeyFields& fields, std::string_view name);

}  // namespace hearth

#endif  // HEARTH_CORE_STORE_CACHE_KEY_H_
