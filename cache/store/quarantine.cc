#include "cache/store/quarantine.h"

#include <fmt/chrono.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <utility>

#include "cache/store/entry_row.h"

namespace hearth {
namespace {

// A record counts for a week, because the driver or the machine may have been repaired. A driver update changes the
// keys.
constexpr int64_t kQuarantineMs = int64_t{7} * 24 * 60 * 60 * 1000;
constexpr int64_t kClockGrainMs = 60 * 1000;  // smaller clock corrections cost no write

}  // namespace

Status RecordStrikes(Database& database, const std::vector<DeadMarker>& dead) {
  HEARTH_ASSIGN(Transaction transaction, Transaction::Begin(database));
  HEARTH_ASSIGN(Statement strike,
                database.Prepare("INSERT INTO quarantine VALUES(?1, (SELECT checksum FROM entries WHERE digest=?1), 1,"
                                 " (SELECT kind FROM entries WHERE digest=?1), ?2)"
                                 " ON CONFLICT(digest) DO UPDATE SET checksum=excluded.checksum,"
                                 " kind=excluded.kind, since_ms=excluded.since_ms,"
                                 " strikes=CASE WHEN excluded.checksum IS checksum THEN strikes + 1 ELSE 1 END"));
  for (const DeadMarker& marker : dead) {
    for (const Fingerprint& digest : marker.in_use) {
      HEARTH_TRY(strike.Bind(0, digest.bytes).Bind(1, NowMs()).Run());
      HEARTH_TRY(DeleteEntry(database, digest));
    }
  }
  HEARTH_TRY(transaction.Commit());
  for (const DeadMarker& marker : dead) {
    std::error_code ignored;
    std::filesystem::remove(marker.file.path, ignored);
  }
  return Status::Ok();
}

Result<std::map<Fingerprint, QuarantineRecord>> ReadQuarantine(Database& database) {
  std::map<Fingerprint, QuarantineRecord> records;
  bool is_to_be_mended = false;
  const int64_t now_ms = NowMs();
  {
    HEARTH_ASSIGN(Statement rows, database.Prepare("SELECT digest, strikes, since_ms, kind FROM quarantine"));
    HEARTH_TRY(rows.ForEachRow([&] {
      const int64_t since_ms = std::min(rows.Number(2), now_ms);
      const bool has_expired = since_ms <= now_ms - kQuarantineMs;
      is_to_be_mended |= has_expired || rows.Number(2) > now_ms + kClockGrainMs;
      if (has_expired) return;
      records[FingerprintFrom(rows.Blob(0))] = {rows.Number(1), since_ms + kQuarantineMs, std::string(rows.Text(3))};
    }));
  }
  if (is_to_be_mended && !database.read_only()) {
    // If another process is writing, the next start does it.
    static_cast<void>(database.RunWith("DELETE FROM quarantine WHERE since_ms <= ?", now_ms - kQuarantineMs));
    // If the clock was set back, a quarantine must neither end nor last until the clock has caught up.
    static_cast<void>(database.RunWith("UPDATE quarantine SET since_ms=?1 WHERE since_ms > ?1", now_ms));
  }
  return records;
}

Result<uint64_t> LiftQuarantine(Database& database, std::string_view kind) {
  HEARTH_ASSIGN(Transaction transaction, Transaction::Begin(database));
  HEARTH_TRY(database.RunWith(
      "DELETE FROM quarantine WHERE ?1='' OR kind IS NULL OR kind=?1 OR substr(kind, 1, length(?1) + 1)=?1 || '-'",
      kind));
  HEARTH_ASSIGN(const int64_t count, database.Number("SELECT changes()"));
  HEARTH_TRY(transaction.Commit());
  return static_cast<uint64_t>(count);
}

Result<bool> IsBarred(Database& database, const Fingerprint& digest, const Fingerprint& checksum) {
  HEARTH_ASSIGN(Statement record, database.Prepare("SELECT strikes FROM quarantine WHERE digest=? AND checksum=?"));
  HEARTH_ASSIGN(const bool row, record.Bind(0, digest.bytes).Bind(1, checksum.bytes).Step());
  return row && record.Number(0) >= kMaxStrikes;
}

void StoreCrashMarks::TakeDeadUses() {
  const std::scoped_lock lock(connection_.mutex());
  const std::vector<DeadMarker> dead = FindDeadMarkers(connection_.options().folder);
  if (dead.empty()) return;
  size_t count = 0;
  for (const DeadMarker& marker : dead) {
    count += marker.in_use.size();
    hidden_.insert(marker.in_use.begin(), marker.in_use.end());
    for (const Fingerprint& digest : marker.in_use) on_probation_[digest];
  }
  connection_.warnings().Add("quarantine",
                             fmt::format("an earlier run died while it loaded {} cached item{}: rebuilding {}", count,
                                         count == 1 ? "" : "s", count == 1 ? "it" : "them"));
  if (!connection_.is_writable()) return;
  if (const Status status = RecordStrikes(*connection_.database(), dead); !status.ok()) {
    connection_.NoteTrouble("quarantining", status);
    return;
  }
  hidden_.clear();
  static_cast<void>(Load(*connection_.database()));
}

Status StoreCrashMarks::Load(Database& database) {
  HEARTH_ASSIGN(on_probation_, ReadQuarantine(database));
  return Status::Ok();
}

void StoreCrashMarks::BeginUse(const CacheKey& key) {
  if (connection_.IsForked()) return;
  const std::scoped_lock lock(connection_.mutex());
  if (!connection_.is_read_only()) marker_.Begin(key.digest());
}

void StoreCrashMarks::EndUse(const CacheKey& key) {
  if (connection_.IsForked()) return;
  const Fingerprint digest = key.digest();
  const std::scoped_lock lock(connection_.mutex());
  marker_.End(digest);
  if (on_probation_.contains(digest)) acquitted_.insert(digest);
}

bool StoreCrashMarks::IsSuspect(const CacheKey& key) const {
  if (connection_.IsForked()) return false;
  const std::scoped_lock lock(connection_.mutex());
  return !on_probation_.empty() && on_probation_.contains(key.digest());
}

bool StoreCrashMarks::IsHidden(const CacheKey& key) const {
  if (connection_.IsForked()) return false;
  const std::scoped_lock lock(connection_.mutex());
  return !hidden_.empty() && hidden_.contains(key.digest());
}

void StoreCrashMarks::WarnIfBarred(const CacheKey& key, const Fingerprint& digest) {
  const auto record = on_probation_.find(digest);
  if (record == on_probation_.end() || record->second.strikes < kMaxStrikes) return;
  const std::string_view kind = BlobKindName(key.kind());
  connection_.warnings().Add(
      fmt::format("barred {}", kind),
      fmt::format("{} runs died while they loaded the same cached {}, so it is made again at each start until "
                  "{:%Y-%m-%d}; `hearth cache clear --quarantine` lifts that",
                  record->second.strikes, kind, fmt::gmtime(std::time_t{record->second.until_ms / 1000})));
}

int64_t StoreCrashMarks::EndOfQuarantineMs(const Fingerprint& digest) const {
  const std::scoped_lock lock(connection_.mutex());
  const auto record = on_probation_.find(digest);
  return record == on_probation_.end() ? 0 : record->second.until_ms;
}

Status StoreCrashMarks::Store(Database& database) const {
  HEARTH_ASSIGN(Statement acquit, database.Prepare("DELETE FROM quarantine WHERE digest=? AND checksum IS NOT NULL"));
  for (const Fingerprint& digest : acquitted_) HEARTH_TRY(acquit.Bind(0, digest.bytes).Run());
  return Status::Ok();
}

void StoreCrashMarks::OnStored() {
  for (const Fingerprint& digest : acquitted_) on_probation_.erase(digest);
  acquitted_.clear();
}

}  // namespace hearth
