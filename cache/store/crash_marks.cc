#include "cache/store/crash_marks.h"

#include <fmt/chrono.h>

#include <ctime>
#include <utility>

namespace hearth {

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

void StoreCrashMarks::OnStored() {
  for (const Fingerprint& digest : acquitted_) on_probation_.erase(digest);
  acquitted_.clear();
}

}  // namespace hearth
