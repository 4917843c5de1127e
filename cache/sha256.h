// SHA-256 (FIPS 180-4): what a bundle's manifest promises about each blob. Keys and checksums of the store itself are
// XXH3, which is fast and no proof against people.
#ifndef HEARTH_CACHE_SHA256_H_
#define HEARTH_CACHE_SHA256_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace hearth {

std::array<uint8_t, 32> Sha256Of(std::span<const std::byte> bytes);

std::string HexOf(std::span<const uint8_t> bytes);  // two digits a byte
// False when `hex` is not exactly as many digits as `bytes` takes.
bool BytesFromHex(std::string_view hex, std::span<uint8_t> bytes);

}  // namespace hearth

#endif  // HEARTH_CACHE_SHA256_H_
