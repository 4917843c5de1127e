// The form of tar (POSIX ustar) in bundle files: regular files with short names and constant other fields, so that
// equal content makes equal bytes and any tar program can read them.
#ifndef HEARTH_CACHE_TAR_H_
#define HEARTH_CACHE_TAR_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "core/base/numbers.h"

namespace hearth {

inline constexpr uint64_t kTarBlockBytes = 512;
inline constexpr uint64_t kMaxTarMemberBytes = (uint64_t{1} << 33) - 1;  // 11 octal digits

using TarHeader = std::array<std::byte, kTarBlockBytes>;

// `name` has at most 100 bytes.
TarHeader MakeTarHeader(std::string_view name, uint64_t size_bytes);

// The size in a header; nullopt unless the header is exactly what MakeTarHeader makes for that name and size.
std::optional<uint64_t> SizeInTarHeader(std::span<const std::byte, kTarBlockBytes> header, std::string_view name);

// The bytes that `size_bytes` of content take in whole blocks.
constexpr uint64_t TarBytes(uint64_t size_bytes) {
  return RoundUp(size_bytes, kTarBlockBytes);
}

}  // namespace hearth

#endif  // HEARTH_CACHE_TAR_H_
