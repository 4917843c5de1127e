#include "tools/hearth/exif.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace hearth {
namespace {

constexpr uint8_t kMarker = 0xff, kStartOfImage = 0xd8, kApp1 = 0xe1, kStartOfScan = 0xda;
constexpr uint16_t kOrientationTag = 0x0112, kShortType = 3;
constexpr std::string_view kExifHead("Exif\0\0", 6);

// TIFF data. Its head gives the byte order.
class Tiff {
 public:
  explicit Tiff(std::span<const std::byte> bytes) : bytes_(bytes) {}

  // Reads byte order and offset of the first directory; false if it is no TIFF data.
  bool ReadHead() {
    if (bytes_.size() < 8) return false;
    const auto first = std::to_integer<char>(bytes_[0]);
    if (first != std::to_integer<char>(bytes_[1]) || (first != 'I' && first != 'M')) return false;
    is_little_ = first == 'I';
    return Number(2, 2) == 42;
  }

  // A number of the first directory; nothing if the entry is missing or outside of the file.
  std::optional<uint32_t> ShortOf(uint16_t tag) const {
    constexpr size_t kEntryBytes = 12;
    const size_t directory = Number(4, 4);
    if (!Holds(directory, 2)) return std::nullopt;
    const size_t count = Number(directory, 2);
    for (size_t k = 0; k < count; ++k) {
      const size_t at = directory + 2 + k * kEntryBytes;
      if (!Holds(at, kEntryBytes)) return std::nullopt;
      if (Number(at, 2) == tag) {
        return Number(at + 2, 2) == kShortType ? std::optional(Number(at + 8, 2)) : std::nullopt;
      }
    }
    return std::nullopt;
  }

 private:
  bool Holds(size_t at, size_t size) const { return at <= bytes_.size() && size <= bytes_.size() - at; }
  // Precondition: the number lies within the data.
  uint32_t Number(size_t at, size_t size) const {
    uint32_t number = 0;
    for (size_t k = 0; k < size; ++k) {
      number = (number << 8) | std::to_integer<uint32_t>(bytes_[at + (is_little_ ? size - 1 - k : k)]);
    }
    return number;
  }

  std::span<const std::byte> bytes_;
  bool is_little_ = true;
};

int OrientationIn(std::span<const std::byte> segment) {
  if (segment.size() < kExifHead.size() || std::memcmp(segment.data(), kExifHead.data(), kExifHead.size()) != 0)
    return 0;
  Tiff tiff(segment.subspan(kExifHead.size()));
  if (!tiff.ReadHead()) return 0;
  const uint32_t orientation = tiff.ShortOf(kOrientationTag).value_or(0);
  return orientation <= 8 ? static_cast<int>(orientation) : 0;
}

}  // namespace

int ExifOrientation(std::span<const std::byte> file) {
  const auto byte_at = [&](size_t at) { return std::to_integer<uint8_t>(file[at]); };
  if (file.size() < 4 || byte_at(0) != kMarker || byte_at(1) != kStartOfImage) return 1;
  for (size_t at = 2; at + 4 <= file.size() && byte_at(at) == kMarker;) {
    const uint8_t kind = byte_at(at + 1);
    if (kind == kMarker) {  // fill byte
      ++at;
      continue;
    }
    if (kind == kStartOfScan) break;
    const size_t size = (size_t{byte_at(at + 2)} << 8) | byte_at(at + 3);  // includes these two bytes
    if (size < 2 || at + 2 + size > file.size()) break;
    if (kind == kApp1) {
      if (const int orientation = OrientationIn(file.subspan(at + 4, size - 2)); orientation > 0) return orientation;
    }
    at += 2 + size;
  }
  return 1;
}

}  // namespace hearth
