#include "frontends/tflite/zip_entry.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "core/base/error.h"
#include "core/base/text.h"

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

}  // namespace

ZipDirectory::ZipDirectory(std::span<const std::byte> file) : file_(file) {
  why_missing_ = Read();
  if (!why_missing_.ok()) return;
  why_missing_ = Error(StatusCode::kNotFound, "the archive at the file's end has no such entry");
}

Status ZipDirectory::Read() {
  const std::optional<size_t> end = FindEnd(file_);
  if (!end) return Error(StatusCode::kNotFound, "there is no archive at the file's end");
  const uint64_t directory_bytes = Long(file_, *end + 12), offset = Long(file_, *end + 16);
  if (directory_bytes + offset > *end) return Damaged("its directory lies outside the file");
  base_ = *end - directory_bytes - offset;
  uint64_t at = *end - directory_bytes;
  for (uint64_t left = Short(file_, *end + 10); left > 0; --left) {
    if (!Holds(file_, at, kDirectoryBytes) || Long(file_, at) != kDirectorySignature) {
      return Damaged("its directory breaks off");
    }
    const uint64_t name_bytes = Short(file_, at + 28);
    if (!Holds(file_, at + kDirectoryBytes, name_bytes)) return Damaged("a name is longer than the file");
    records_.emplace(TextFrom(file_.subspan(at + kDirectoryBytes, name_bytes)), at);  // the first of a name counts
    at += kDirectoryBytes + name_bytes + Short(file_, at + 30) + Short(file_, at + 32);
  }
  return Status::Ok();
}

Result<std::span<const std::byte>> ZipDirectory::Find(std::string_view name) const {
  const auto found = records_.find(name);
  if (found == records_.end()) return why_missing_;
  return ContentsOf(found->second);
}

Result<std::span<const std::byte>> ZipDirectory::ContentsOf(uint64_t record) const {
  if (Short(file_, record + 10) != 0 || (Short(file_, record + 8) & kEncryptedFlag) != 0) {
    return Error(StatusCode::kUnsupported, "it is compressed or encrypted; store it without compression (zip -0)");
  }
  const uint64_t size = Long(file_, record + 24), local = base_ + Long(file_, record + 42);
  if (!Holds(file_, local, kLocalBytes) || Long(file_, local) != kLocalSignature) {
    return Damaged("an entry points to no local header");
  }
  const uint64_t data = local + kLocalBytes + Short(file_, local + 26) + Short(file_, local + 28);
  if (!Holds(file_, data, size)) return Damaged("an entry is larger than the file");
  return file_.subspan(data, size);
}

}  // namespace hearth
