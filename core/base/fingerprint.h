// Digests of bytes: XXH3-128 (https://xxhash.com, 128-bit variant).
#ifndef HEARTH_CORE_BASE_FINGERPRINT_H_
#define HEARTH_CORE_BASE_FINGERPRINT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

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

// The same digests of bytes that come in pieces.
class FingerprintStream {
 public:
  FingerprintStream();
  explicit FingerprintStream(std::span<const std::byte> secret);  // outlives it
  FingerprintStream(const FingerprintStream&) = delete;
  FingerprintStream& operator=(const FingerprintStream&) = delete;
  ~FingerprintStream();

  void Add(std::span<const std::byte> piece);
  Fingerprint Finish() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hearth

#endif  // HEARTH_CORE_BASE_FINGERPRINT_H_
