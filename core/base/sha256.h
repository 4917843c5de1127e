// SHA-256 (FIPS 180-4): names content in keys, and each blob in a bundle's manifest. Checksums use XXH3 instead, which
// is fast but does not protect against people.
#ifndef HEARTH_CORE_BASE_SHA256_H_
#define HEARTH_CORE_BASE_SHA256_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace hearth {

std::array<uint8_t, 32> Sha256Of(std::span<const std::byte> bytes);

// Hashes bytes that come in pieces.
class Sha256 {
 public:
  Sha256();
  void Add(std::span<const std::byte> piece);
  std::array<uint8_t, 32> Finish();  // once, after the last piece

 private:
  friend std::array<uint8_t, 32> PlainSha256Of(std::span<const std::byte> bytes);
  static constexpr size_t kBlockBytes = 64;
  using State = std::array<uint32_t, 8>;
  using CompressBlocks = void (*)(State& state, const std::byte* blocks, size_t count);
  explicit Sha256(CompressBlocks compress) : compress_(compress) {}

  CompressBlocks compress_;
  State state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::byte, kBlockBytes> held_{};  // the beginning of a block
  size_t held_bytes_ = 0;
  uint64_t all_bytes_ = 0;
};

// The same without the processor's SHA instructions, for tests.
std::array<uint8_t, 32> PlainSha256Of(std::span<const std::byte> bytes);

std::string HexOf(std::span<const uint8_t> bytes);  // two digits a byte
// False unless `hex` has exactly the number of digits for `bytes`.
bool BytesFromHex(std::string_view hex, std::span<uint8_t> bytes);

}  // namespace hearth

#endif  // HEARTH_CORE_BASE_SHA256_H_
