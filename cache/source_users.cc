#include "cache/source_users.h"

#include <algorithm>
#include <optional>

#include "cache/entry_row.h"
#include "cache/models.h"
#include "cache/needed_source.h"
#include "core/base/text_bytes.h"

namespace hearth {
namespace {

// A program names its source at the beginning. This is more than the longest key of a source; the rest is the driver's,
// which may have megabytes.
constexpr uint64_t kLongestName = 64 << 10;

// Precondition: `row` has the columns id, digest, material of a program.
Result<std::optional<CacheKey>> SourceNamedIn(Database& database, Statement& row) {
  const std::optional<CacheKey> key = KeyFromMaterial(BlobKind::kProgram, TextFrom(row.Blob(2)));
  if (!key) return std::optional<CacheKey>();
  HEARTH_ASSIGN(BlobReader blob, database.OpenBlob("blobs", "bytes", row.Number(0)));
  std::vector<std::byte> beginning(std::min(blob.size_bytes(), kLongestName));
  if (!row.MayRead(beginning.size())) return std::optional<CacheKey>();
  HEARTH_TRY(blob.ReadPiece(0, beginning));
  return SourceNeededBy(*key, beginning);
}

}  // namespace

Result<std::vector<int64_t>> ProgramsThatNeed(Database& database, const std::set<Fingerprint>& sources,
                                              const std::function<bool(const Fingerprint&)>& is_kept) {
  std::vector<int64_t> programs;
  if (sources.empty()) return programs;
  HEARTH_ASSIGN(const std::set<Fingerprint> pinned, PinnedDigests(database));
  HEARTH_ASSIGN(Statement rows, database.Prepare("SELECT id, digest, material FROM entries WHERE kind=?"));
  rows.Bind(0, BlobKindName(BlobKind::kProgram));
  while (true) {
    HEARTH_ASSIGN(const bool row, rows.Step());
    if (!row) return programs;
    const Fingerprint digest = FingerprintFrom(rows.Blob(1));
    if (pinned.contains(digest) || is_kept(digest)) continue;
    HEARTH_ASSIGN(const std::optional<CacheKey> source, SourceNamedIn(database, rows));
    if (source && sources.contains(source->digest())) programs.push_back(rows.Number(0));
  }
}

}  // namespace hearth
