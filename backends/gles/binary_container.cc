#include "backends/gles/binary_container.h"

#include <optional>

#include "core/base/error.h"

namespace hearth::gles {
namespace {

constexpr uint32_t kMagic = 0x424c4748;  // "HGLB"
constexpr uint32_t kVersion = 1;

void AppendU32(std::vector<std::byte>& out, uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) out.push_back(static_cast<std::byte>(value >> shift));
}

// Takes 4 bytes off the front of `rest`; nothing when there are fewer.
std::optional<uint32_t> TakeU32(std::span<const std::byte>& rest) {
  if (rest.size() < 4) return std::nullopt;
  uint32_t value = 0;
  for (int k = 0; k < 4; ++k) value |= static_cast<uint32_t>(rest[k]) << (8 * k);
  rest = rest.subspan(4);
  return value;
}

Status Damaged(const char* what) {
  return Error(StatusCode::kMalformedInput, "not a stored OpenGL ES program: {}", what);
}

}  // namespace

std::vector<std::byte> PackBinaries(std::span<const ProgramBinary> binaries) {
  std::vector<std::byte> out;
  AppendU32(out, kMagic);
  AppendU32(out, kVersion);
  AppendU32(out, static_cast<uint32_t>(binaries.size()));
  for (const ProgramBinary& binary : binaries) {
    AppendU32(out, binary.format);
    AppendU32(out, static_cast<uint32_t>(binary.bytes.size()));
    out.insert(out.end(), binary.bytes.begin(), binary.bytes.end());
  }
  return out;
}

Result<std::vector<ProgramBinary>> UnpackBinaries(std::span<const std::byte> container) {
  std::span<const std::byte> rest = container;
  if (TakeU32(rest) != kMagic) return Damaged("wrong first bytes");
  if (TakeU32(rest) != kVersion) return Damaged("another version");
  const std::optional<uint32_t> count = TakeU32(rest);
  if (!count) return Damaged("cut short");
  std::vector<ProgramBinary> binaries;  // grows with what is there, never by what the count claims
  for (uint32_t k = 0; k < *count; ++k) {
    const std::optional<uint32_t> format = TakeU32(rest);
    const std::optional<uint32_t> size_bytes = TakeU32(rest);
    if (!size_bytes || *size_bytes > rest.size()) return Damaged("cut short");
    if (*size_bytes == 0) return Damaged("an empty binary");
    binaries.push_back({*format, {rest.begin(), rest.begin() + *size_bytes}});
    rest = rest.subspan(*size_bytes);
  }
  if (!rest.empty()) return Damaged("bytes after its end");
  return binaries;
}

}  // namespace hearth::gles
