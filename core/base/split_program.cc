#include "core/base/split_program.h"

#include <optional>
#include <string_view>

#include "core/base/key_bytes.h"
#include "core/base/text.h"

namespace hearth {
namespace {

constexpr std::string_view kSplitMagic = "HearthSplitProgram1\n";

}  // namespace

std::vector<std::byte> MakeSplitProgram(const SplitProgram& program) {
  std::vector<std::byte> bytes;
  AppendText(bytes, kSplitMagic);
  AppendKey(bytes, program.source);
  bytes.insert(bytes.end(), program.driver_part.begin(), program.driver_part.end());
  return bytes;
}

bool IsSplitProgram(std::span<const std::byte> bytes) {
  return TextFrom(bytes).starts_with(kSplitMagic);
}

Result<SplitProgram> SplitProgramFrom(std::span<const std::byte> bytes) {
  const Status malformed(StatusCode::kMalformedInput, "it does not name the entry with its portable part");
  if (!IsSplitProgram(bytes)) return malformed;
  ByteReader reader(bytes.subspan(kSplitMagic.size()));
  const std::optional<CacheKey> source = TakeKey(reader, BlobKind::kSource);
  return source ? Result<SplitProgram>(SplitProgram{*source, reader.rest()}) : malformed;
}

}  // namespace hearth
