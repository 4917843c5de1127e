#include "backends/gles/binary_container.h"

#include "core/base/byte_reader.h"
#include "core/base/error.h"

namespace hearth::gles {
namespace {

constexpr uint32_t kMagic = 0x424c4748;  // "HGLB"
constexpr uint32_t kVersion = 1;

Status Damaged(const char* what) {
  return Error(StatusCode::kMalformedInput, "not a stored OpenGL ES program: {}", what);
}

}  // namespace

std::vector<std::byte> PackBinaries(std::span<const ProgramBinary> binaries) {
  std::vector<std::byte> out;
  AppendNumber(out, kMagic);
  AppendNumber(out, kVersion);
  AppendNumber(out, static_cast<uint32_t>(binaries.size()));
  for (const ProgramBinary& binary : binaries) {
    AppendNumber(out, binary.format);
    AppendNumber(out, static_cast<uint32_t>(binary.bytes.size()));
    out.insert(out.end(), binary.bytes.begin(), binary.bytes.end());
  }
  return out;
}

Result<std::vector<ProgramBinary>> UnpackBinaries(std::span<const std::byte> container) {
  ByteReader reader(container);
  if (reader.Number<uint32_t>() != kMagic) return Damaged("wrong first bytes");
  if (reader.Number<uint32_t>() != kVersion) return Damaged("another version");
  const auto count = reader.Number<uint32_t>();
  if (reader.failed()) return Damaged("cut short");
  std::vector<ProgramBinary> binaries;  // grows with the bytes that are there, whatever the count claims
  for (uint32_t k = 0; k < count; ++k) {
    const auto format = reader.Number<uint32_t>();
    const std::span<const std::byte> binary = reader.Bytes(reader.Number<uint32_t>());
    if (reader.failed()) return Damaged("cut short");
    if (binary.empty()) return Damaged("an empty binary");
    binaries.push_back({format, {binary.begin(), binary.end()}});
  }
  if (!reader.rest().empty()) return Damaged("bytes after its end");
  return binaries;
}

}  // namespace hearth::gles
