#include "hal/program_parts.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <span>
#include <string_view>

#include "core/base/error.h"

namespace hearth {
namespace {

constexpr std::string_view kMagic = "HearthProgramParts1\n";

void Append(std::vector<std::byte>& bytes, std::string_view text) {
  std::ranges::copy(std::as_bytes(std::span(text)), std::back_inserter(bytes));
}

void Append(std::vector<std::byte>& bytes, uint32_t number) {
  for (int shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<std::byte>((number >> shift) & 0xff));
}

// Reads from the front of `bytes`; false where they end too early.
bool Take(std::span<const std::byte>& bytes, size_t count, std::string_view& text) {
  if (bytes.size() < count) return false;
  text = {reinterpret_cast<const char*>(bytes.data()), count};
  bytes = bytes.subspan(count);
  return true;
}

bool Take(std::span<const std::byte>& bytes, uint32_t& number) {
  if (bytes.size() < sizeof number) return false;
  number = 0;
  for (size_t k = 0; k < sizeof number; ++k) number |= std::to_integer<uint32_t>(bytes[k]) << (8 * k);
  bytes = bytes.subspan(sizeof number);
  return true;
}

bool TakeKey(std::span<const std::byte>& bytes, CacheKey& key) {
  uint32_t size = 0;
  std::string_view material;
  if (!Take(bytes, size) || !Take(bytes, size, material)) return false;
  const auto fields = DecodeKeyMaterial(material);
  if (!fields.ok()) return false;
  for (const auto& [name, value] : *fields) key.Add(name, value);
  return true;
}

}  // namespace

std::vector<std::byte> ToBytes(const ProgramParts& parts) {
  std::vector<std::byte> bytes;
  Append(bytes, kMagic);
  Append(bytes, static_cast<uint32_t>(parts.binaries.size()));
  for (const CacheKey& key : parts.binaries) {
    Append(bytes, static_cast<uint32_t>(key.material().size()));
    Append(bytes, key.material());
  }
  for (const uint32_t binary : parts.binary_of) Append(bytes, binary);
  return bytes;
}

bool IsProgramParts(std::span<const std::byte> bytes) {
  return bytes.size() >= kMagic.size() && std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) == 0;
}

Result<ProgramParts> ProgramPartsFrom(std::span<const std::byte> bytes, size_t kernels) {
  const Status malformed(StatusCode::kMalformedInput, "not a list of the programs that hold these kernels");
  if (!IsProgramParts(bytes)) return malformed;
  bytes = bytes.subspan(kMagic.size());
  uint32_t count = 0;
  if (!Take(bytes, count) || count > kernels) return malformed;
  ProgramParts parts;
  for (uint32_t k = 0; k < count; ++k) {
    if (!TakeKey(bytes, parts.binaries.emplace_back(BlobKind::kProgram))) return malformed;
  }
  for (size_t k = 0; k < kernels; ++k) {
    if (!Take(bytes, parts.binary_of.emplace_back()) || parts.binary_of.back() >= count) return malformed;
  }
  return bytes.empty() ? Result<ProgramParts>(std::move(parts)) : malformed;
}

}  // namespace hearth
