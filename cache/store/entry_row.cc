#include "cache/store/entry_row.h"

#include <algorithm>
#include <cstring>

#include "core/base/text.h"

namespace hearth {

int64_t TimeMs(const timespec& time) {
  constexpr int64_t kMostSeconds = kMostTimeMs / 1000;
  return std::clamp(int64_t{time.tv_sec}, -kMostSeconds, kMostSeconds - 1) * 1000 + time.tv_nsec / 1'000'000;
}

// std::chrono::system_clock counts nanoseconds, whose 64 bits overflow in 2262.
int64_t NowMs() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return TimeMs(now);
}

Fingerprint FingerprintFrom(std::span<const std::byte> bytes) {
  Fingerprint fingerprint;
  if (bytes.size() == fingerprint.bytes.size()) std::memcpy(fingerprint.bytes.data(), bytes.data(), bytes.size());
  return fingerprint;
}

uint64_t SizeFrom(const Statement& row, int column) {
  return static_cast<uint64_t>(std::max<int64_t>(0, row.Number(column)));
}

void AddSize(uint64_t& sum, uint64_t size_bytes) {
  sum += std::min(size_bytes, UINT64_MAX - sum);
}

Status InsertEntry(Database& database, const NewEntry& entry, const std::optional<Fingerprint>& needs) {
  HEARTH_ASSIGN(
      Statement row,
      database.Prepare("INSERT INTO entries(digest, kind, material, size_bytes, checksum, cost_ms, created_ms,"
                       " last_used_ms, origin, needs) VALUES(?, ?, ?, ?, ?, ?, ?7, ?7, ?, ?) RETURNING id"));
  row.Bind(0, entry.digest.bytes).Bind(1, BlobKindName(entry.key->kind())).Bind(2, BytesOf(entry.key->material()));
  row.Bind(3, static_cast<int64_t>(entry.bytes.size())).Bind(4, entry.checksum.bytes);
  row.Bind(5, BoundedCostMs(entry.cost_ms)).Bind(6, NowMs());
  row.Bind(7, entry.origin.empty() ? std::string_view("") : entry.origin);
  if (needs) row.Bind(8, needs->bytes);
  HEARTH_ASSIGN(const bool is_made, row.Step());
  const int64_t id = is_made ? row.Number(0) : 0;
  HEARTH_TRY(row.Run());
  HEARTH_ASSIGN(Statement blob, database.Prepare("INSERT INTO blobs(id, bytes) VALUES(?, ?)"));
  return blob.Bind(0, id).Bind(1, entry.bytes).Run();
}

Status DeleteEntry(Database& database, int64_t id) {
  for (const char* sql : {"DELETE FROM blobs WHERE id=?", "DELETE FROM entries WHERE id=?"}) {
    HEARTH_ASSIGN(Statement statement, database.Prepare(sql));
    HEARTH_TRY(statement.Bind(0, id).Run());
  }
  return Status::Ok();
}

Status DeleteEntry(Database& database, const Fingerprint& digest) {
  for (const char* sql :
       {"DELETE FROM blobs WHERE id=(SELECT id FROM entries WHERE digest=?)", "DELETE FROM entries WHERE digest=?"}) {
    HEARTH_ASSIGN(Statement statement, database.Prepare(sql));
    HEARTH_TRY(statement.Bind(0, digest.bytes).Run());
  }
  return Status::Ok();
}

}  // namespace hearth
