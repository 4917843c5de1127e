#include "frontends/tflite/zip_entry.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "core/base/error.h"
#include "core/base/text_bytes.h"

namespace hearth {
namespace {

// Signatures and fixed sizes of the three records (APPNOTE.TXT of PKWARE, 4.3).
constexpr uint32_t kEndSignature = 0x06054b50, kDirectorySignature = 0x02014b50, kLocalSignature = 0x04034b50;
constexpr size_t kEndBytes = 22, kDirectoryBytes = 46, kLocalBytes = 30;
constexpr size_t kMaxCommentBytes = 65535;
constexpr uint16_t kEncryptedFlag = 1;

// A little-endian number at any position. Precondition: it lies within `bytes`.
uint64_t NumberAt(std::span<const std::byte> bytes, size_t at, size_t size) {
  uint64_t number = 0;
  for (size_t k = size; k-- > 0;) number = (number << 8) | std::to_integer<uint64_t>(bytes[at + k]);
  return number;
}
uint64_t Short(std::span<const std::byte> bytes, size_t at) {
  return NumberAt(bytes, at, 2);
}
uint64_t Long(std::span<const std::byte> bytes, size_t at) {
  return NumberAt(bytes, at, 4);
}

bool Holds(std::span<const std::byte> file, uint64_t at, uint64_t size) {
  return at <= file.size() && size <= file.size() - at;
}

Status Damaged(std::string_view what) {
  return Error(StatusCode::kMalformedInput, "the archive at the file's end is damaged: {}", what);
}

// The position of the archive's last record.
std::optional<size_t> FindEnd(std::span<const std::byte> file) {
  if (file.size() < kEndBytes) return std::nullopt;
  const size_t last = file.size() - kEndBytes;
  const size_t first = last - std::min(last, kMaxCommentBytes);
  for (size_t at = last + 1; at-- > first;) {
    if (Long(file, at) == kEndSignature && at + kEndBytes + Short(file, at + 20) == file.size()) return at;
  }
  return std::nullopt;
}

// The entry's bytes, by its directory record at `at`. Offsets count from `base`.
Result<std::span<const std::byte>> ContentsOf(std::span<const std::byte> file, uint64_t at, uint64_t base) {
  if (Short(file, at + 10) != 0 || (Short(file, at + 8) & kEncryptedFlag) != 0) {
    return Error(StatusCode::kUnsupported, "it is compressed or encrypted; store it without compression (zip -0)");
  }
  const uint64_t size = Long(file, at + 24), local = base + Long(file, at + 42);
  if (!Holds(file, local, kLocalBytes) || Long(file, local) != kLocalSignature) {
    return Damaged("an entry points to no local header");
  }
  const uint64_t data = local + kLocalBytes + Short(file, local + 26) + Short(file, local + 28);
  if (!Holds(file, data, size)) return Damaged("an entry is larger than the file");
  return file.subspan(data, size);
}

}  // namespace

Result<std::span<const std::byte>> FindZipEntry(std::span<const std::byte> file, std::string_view name) {
  const std::optional<size_t> end = FindEnd(file);
  if (!end) return Error(StatusCode::kNotFound, "there is no archive at the file's end");
  const uint64_t directory_bytes = Long(file, *end + 12), offset = Long(file, *end + 16);
  if (directory_bytes + offset > *end) return Damaged("its directory lies outside the file");
  const uint64_t base = *end - directory_bytes - offset;  // bytes before the archive
  uint64_t at = *end - directory_bytes;
  for (uint64_t left = Short(file, *end + 10); left > 0; --left) {
    if (!Holds(file, at, kDirectoryBytes) || Long(file, at) != kDirectorySignature) {
      return Damaged("its directory breaks off");
    }
    const uint64_t name_bytes = Short(file, at + 28);
    if (!Holds(file, at + kDirectoryBytes, name_bytes)) return Damaged("a name is longer than the file");
    if (TextFrom(file.subspan(at + kDirectoryBytes, name_bytes)) == name) return ContentsOf(file, at, base);
    at += kDirectoryBytes + name_bytes + Short(file, at + 30) + Short(file, at + 32);
  }
  return Error(StatusCode::kNotFound, "the archive at the file's end has no such entry");
}

}  // namespace hearth
