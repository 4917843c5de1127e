#include "hal/program_parts.h"

#include <optional>
#include <string_view>
#include <utility>

#include "core/base/key_bytes.h"
#include "core/base/text.h"

namespace hearth {
namespace {

constexpr std::string_view kMagic = "HearthProgramParts1\n";

}  // namespace

std::vector<std::byte> ToBytes(const ProgramParts& parts) {
  std::vector<std::byte> bytes;
  AppendText(bytes, kMagic);
  AppendNumber(bytes, static_cast<uint32_t>(parts.binaries.size()));
  for (const CacheKey& key : parts.binaries) AppendKey(bytes, key);
  for (const uint32_t binary : parts.binary_of) AppendNumber(bytes, binary);
  return bytes;
}

bool IsProgramParts(std::span<const std::byte> bytes) {
  return TextFrom(bytes).starts_with(kMagic);
}

Result<ProgramParts> ProgramPartsFrom(std::span<const std::byte> bytes, size_t kernels) {
  const Status malformed(StatusCode::kMalformedInput, "it is not a list of programs for these kernels");
  if (!IsProgramParts(bytes)) return malformed;
  ByteReader reader(bytes.subspan(kMagic.size()));
  const auto count = reader.Number<uint32_t>();
  if (reader.failed() || count > kernels) return malformed;
  ProgramParts parts;
  for (uint32_t k = 0; k < count; ++k) {
    const std::optional<CacheKey> key = TakeKey(reader, BlobKind::kProgram);
    if (!key) return malformed;
    parts.binaries.push_back(*key);
  }
  for (size_t k = 0; k < kernels; ++k) {
    parts.binary_of.push_back(reader.Number<uint32_t>());
    if (reader.failed() || parts.binary_of.back() >= count) return malformed;
  }
  return reader.rest().empty() ? Result<ProgramParts>(std::move(parts)) : malformed;
}

}  // namespace hearth
