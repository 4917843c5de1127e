#include "cache/needed_source.h"

#include "core/base/split_program.h"
#include "core/plan/key_fields.h"

namespace hearth {

std::optional<CacheKey> SourceNeededBy(const CacheKey& program, std::span<const std::byte> bytes) {
  if (program.kind() != BlobKind::kProgram) return std::nullopt;
  Result<SplitProgram> split = SplitProgramFrom(bytes);
  if (!split.ok()) return std::nullopt;
  // The name within the bytes has no token: a session's store adds it to each key (tokened_store.h).
  const auto fields = DecodeKeyMaterial(program.material());
  if (fields.ok() && !fields->empty() && fields->back().first == kModelTokenField.name)
    split->source.Add(kModelTokenField.name, fields->back().second);
  return split->source;
}

}  // namespace hearth
