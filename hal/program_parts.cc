#include "hal/program_parts.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <span>
#include <string_view>

#include "core/base/byte_reader.h"
#include "core/base/error.h"
#include "core/base/text_bytes.h"

namespace hearth {
namespace {

constexpr std::string_view kMagic = "HearthProgramParts1\n";

void Append(std::vector<std::byte>& bytes, std::string_view text) {
  std::ranges::copy(BytesOf(text), std::back_inserter(bytes));
}

// Returns false if no key follows.
bool TakeKey(ByteReader& reader, CacheKey& key) {
  const std::span<const std::byte> material = reader.Bytes(reader.Number<uint32_t>());
  const auto fields = DecodeKeyMaterial(TextFrom(material));
  if (reader.failed() || !fields.ok()) return false;
  for (const auto& [name, value] : *fields) key.Add(name, value);
  return true;
}

}  // namespace

std::vector<std::byte> ToBytes(const ProgramParts& parts) {
  std::vector<std::byte> bytes;
  Append(bytes, kMagic);
  AppendNumber(bytes, static_cast<uint32_t>(parts.binaries.size()));
  for (const CacheKey& key : parts.binaries) {
    AppendNumber(bytes, static_cast<uint32_t>(key.material().size()));
    Append(bytes, key.material());
  }
  for (const uint32_t binary : parts.binary_of) AppendNumber(bytes, binary);
  return bytes;
}

bool IsProgramParts(std::span<const std::byte> bytes) {
  return bytes.size() >= kMagic.size() && std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) == 0;
}

Result<ProgramParts> ProgramPartsFrom(std::span<const std::byte> bytes, size_t kernels) {
  const Status malformed(StatusCode::kMalformedInput, "it is not a list of programs for these kernels");
  if (!IsProgramParts(bytes)) return malformed;
  ByteReader reader(bytes.subspan(kMagic.size()));
  const auto count = reader.Number<uint32_t>();
  if (reader.failed() || count > kernels) return malformed;
  ProgramParts parts;
  for (uint32_t k = 0; k < count; ++k) {
    if (!TakeKey(reader, parts.binaries.emplace_back(BlobKind::kProgram))) return malformed;
  }
  for (size_t k = 0; k < kernels; ++k) {
    parts.binary_of.push_back(reader.Number<uint32_t>());
    if (reader.failed() || parts.binary_of.back() >= count) return malformed;
  }
  return reader.rest().empty() ? Result<ProgramParts>(std::move(parts)) : malformed;
}

}  // namespace hearth
