#include "cache/tar.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>

namespace hearth {
namespace {

// Positions of the fields (POSIX.1-2017, pax, "ustar Interchange Format").
constexpr size_t kName = 0, kMode = 100, kUser = 108, kGroup = 116, kSize = 124, kTime = 136, kSum = 148, kType = 156,
                 kMagicText = 257;
constexpr size_t kSumBytes = 8;
constexpr size_t kSizeDigits = 11;
// 1980, because programs warn of files from 1970.
constexpr uint64_t kFixedTime = 315532800;

void Write(TarHeader& header, size_t at, std::string_view text) {
  std::memcpy(header.data() + at, text.data(), text.size());
}

}  // namespace

TarHeader MakeTarHeader(std::string_view name, uint64_t size_bytes) {
  TarHeader header{};
  Write(header, kName, name.substr(0, kMode));
  Write(header, kMode, "0000644");
  Write(header, kUser, "0000000");
  Write(header, kGroup, "0000000");
  Write(header, kSize, fmt::format("{:011o}", size_bytes & kMaxTarMemberBytes));
  Write(header, kTime, fmt::format("{:011o}", kFixedTime));
  Write(header, kSum, std::string(kSumBytes, ' '));  // the checksum field counts as blanks in the checksum
  Write(header, kType, "0");
  Write(header, kMagicText, std::string_view("ustar\00000", 8));
  uint32_t sum = 0;
  for (std::byte byte : header) sum += std::to_integer<uint32_t>(byte);
  Write(header, kSum, fmt::format("{:06o}", sum) + std::string("\0 ", 2));
  return header;
}

std::optional<uint64_t> SizeInTarHeader(std::span<const std::byte, kTarBlockBytes> header, std::string_view name) {
  uint64_t size_bytes = 0;
  for (std::byte digit : header.subspan(kSize, kSizeDigits)) {
    if (digit < std::byte{'0'} || digit > std::byte{'7'}) return std::nullopt;
    size_bytes = size_bytes * 8 + (std::to_integer<uint64_t>(digit) - '0');
  }
  if (!std::ranges::equal(MakeTarHeader(name, size_bytes), header)) return std::nullopt;
  return size_bytes;
}

}  // namespace hearth
