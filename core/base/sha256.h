// SHA-256 (FIPS 180-4): what content is called in keys, and what a bundle's manifest promises about each blob.
// Checksums are XXH3, which is fast and no proof against people.
#ifndef HEARTH_CORE_BASE_SHA256_H_
#define HEARTH_CORE_BASE_SHA256_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace hearth {

std::array<uint8_t, 32> Sha256Of(std::span<const std::byte> bytes);
// The same without the processor's instructions for it, for tests.
std::array<uint8_t, 32> PlainSha256Of(std::span<const std::byte> bytes);

std::string HexOf(std::span<const uint8_t> bytes);  // two digits a byte
// False when `hex` is not exactly as many digits as `bytes` takes.
bool BytesFromHex(std::string_view hex, std::span<uint8_t> bytes);

}  // namespace hearth

#endif  // HEARTH_CORE_BASE_SHA256_H_
