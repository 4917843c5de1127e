#include "cache/source_users.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "cache/entry_row.h"
#include "cache/models.h"
#include "cache/needed_source.h"
#include "core/base/text.h"

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

Result<std::vector<int64_t>> UsersOf(Database& database, const std::set<Fingerprint>& sources,
                                     const std::function<bool(const Fingerprint&)>& is_kept) {
  std::vector<int64_t> programs;
  HEARTH_ASSIGN(Statement rows, database.Prepare("SELECT id, digest, material FROM entries WHERE kind=?"));
  rows.Bind(0, BlobKindName(BlobKind::kProgram));
  while (true) {
    HEARTH_ASSIGN(const bool row, rows.Step());
    if (!row) return programs;
    if (is_kept(FingerprintFrom(rows.Blob(1)))) continue;
    HEARTH_ASSIGN(const std::optional<CacheKey> source, SourceNamedIn(database, rows));
    if (source && sources.contains(source->digest())) programs.push_back(rows.Number(0));
  }
}

}  // namespace

Result<std::vector<int64_t>> ProgramsThatNeed(Database& database, const std::set<Fingerprint>& sources,
                                              const std::function<bool(const Fingerprint&)>& is_kept) {
  if (sources.empty()) return std::vector<int64_t>();
  HEARTH_ASSIGN(const std::set<Fingerprint> pinned, PinnedDigests(database));
  return UsersOf(database, sources,
                 [&](const Fingerprint& digest) { return pinned.contains(digest) || is_kept(digest); });
}

Result<std::vector<int64_t>> WithTheirPrograms(Database& database, std::span<const int64_t> ids) {
  std::set<Fingerprint> sources, named;
  HEARTH_ASSIGN(Statement row, database.Prepare("SELECT digest, kind FROM entries WHERE id=?"));
  for (const int64_t id : ids) {
    const StatementScope scope(row);
    HEARTH_ASSIGN(const bool is_there, row.Bind(0, id).Step());
    if (!is_there) continue;
    const Fingerprint digest = FingerprintFrom(row.Blob(0));
    named.insert(digest);
    if (row.Text(1) == BlobKindName(BlobKind::kSource)) sources.insert(digest);
  }
  std::vector<int64_t> all;
  if (!sources.empty()) {
    // What is named goes anyway, and is not read: it may be damaged.
    auto users = UsersOf(database, sources, [&](const Fingerprint& digest) { return named.contains(digest); });
    // Another damaged program must not keep what is named in the store: a revocation deletes it.
    if (!users.ok() && users.status().code() != StatusCode::kMalformedInput) return users.status();
    if (users.ok()) all = std::move(users).value();
  }
  all.insert(all.end(), ids.begin(), ids.end());
  return all;
}

}  // namespace hearth
