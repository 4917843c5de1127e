#include "cache/store/session_records.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <system_error>
#include <utility>

#include "cache/files/store_names.h"
#include "cache/store/entry_row.h"
#include "cache/store/making_claim.h"

namespace hearth {
namespace {

// The next opener reads the log; 1 MiB takes about 0.3 ms.
constexpr uint64_t kMaxLogLeftBytes = 1 << 20;

using CounterDeltas = std::vector<std::pair<std::string_view, double>>;

CounterDeltas DeltasOf(const StoreCounters& now, const StoreCounters& before) {
  CounterDeltas deltas;
  for (const NamedCounter& counter : kNamedCounters)
    deltas.emplace_back(counter.name, counter.In(now) - counter.In(before));
  return deltas;
}

Status WriteCounters(Database& database, const CounterDeltas& deltas) {
  HEARTH_ASSIGN(Statement count,
                database.Prepare(
                    "INSERT INTO counters VALUES(?, ?) ON CONFLICT(name) DO UPDATE SET value=value + excluded.value"));
  for (const auto& [name, delta] : deltas) {
    // sqlite would add NULL, which the table refuses.
    if (delta != 0 && std::isfinite(delta)) HEARTH_TRY(count.Bind(0, name).Bind(1, delta).Run());
  }
  return Status::Ok();
}

// An earlier time than the known one changes nothing.
Status NoteTime(Database& database, int64_t time_ms) {
  return database.RunWith(
      "INSERT INTO counters VALUES('latest_ms', ?) ON CONFLICT(name) DO UPDATE SET value=max(value, excluded.value)",
      time_ms);
}

}  // namespace

int64_t LatestTimeMs(Database& database) {
  const Result<int64_t> time_ms = database.Number("SELECT value FROM counters WHERE name='latest_ms'");
  return time_ms.ok() ? std::max<int64_t>(0, *time_ms) : 0;
}

void SessionRecords::Miss(const CacheKey& key, std::string_view reason) {
  if (connection_.IsForked()) return;
  const std::scoped_lock lock(connection_.mutex());
  misses_.Miss(key.digest(), reason);
}

void SessionRecords::Make(const CacheKey& key) {
  if (connection_.IsForked()) return;
  const std::scoped_lock lock(connection_.mutex());
  if (!model_.fingerprint.empty()) misses_.Make(key.digest(), key.kind(), key.material());
}

void SessionRecords::SetModel(const ModelName& model) {
  const std::scoped_lock lock(connection_.mutex());
  model_ = model;
}

int64_t SessionRecords::LatestTimeMs() {
  if (connection_.IsForked()) return 0;
  const std::scoped_lock lock(connection_.mutex());
  return connection_.database() == nullptr ? 0 : hearth::LatestTimeMs(*connection_.database());
}

void SessionRecords::SeeTime(int64_t time_ms) {
  const std::scoped_lock lock(connection_.mutex());
  seen_ms_ = std::max(seen_ms_, time_ms);
}

void SessionRecords::Use(const Fingerprint& digest, int64_t last_used_ms) {
  const int64_t now_ms = NowMs();  // the store may hold any number: not subtracted
  used_[digest] |= last_used_ms > now_ms || last_used_ms <= now_ms - connection_.options().stamp_age_ms;
}

bool SessionRecords::has_due_stamps() const {
  return std::ranges::any_of(used_, [](const auto& used) { return used.second; });
}

void SessionRecords::Write(const StoreCounters& so_far) {
  if (connection_.IsForked()) return;
  const std::scoped_lock lock(connection_.mutex());
  connection_.OpenNamedFile();
  if (!connection_.is_writable()) return;
  // A start that only read leaves a page or two in the log, and so avoids the two fsyncs of a checkpoint.
  std::error_code error;
  const uint64_t log_bytes = std::filesystem::file_size(connection_.file().string() + "-wal", error);
  if (has_put_) {
    RemoveDeadClaims(connection_.options().folder);
    ::unlink(ClearedFile(connection_.options().folder).c_str());
  }
  connection_.database()->SetCheckpointAtClose(has_put_ || error || log_bytes > kMaxLogLeftBytes);
  // A failure loses only statistics and the order of eviction.
  const Status status = connection_.WriteOnce([&](Database& database) { return WriteAll(database, so_far); });
  if (has_put_ && status.ok() && connection_.is_writable()) connection_.KeepLogInBudget(0);
  const bool is_damaged = status.code() == StatusCode::kMalformedInput;
  if (is_damaged || (status.ok() && std::exchange(has_met_damage_, false))) connection_.CheckStructure(status);
}

Status SessionRecords::WriteStamps(Database& database) const {
  HEARTH_ASSIGN(Statement stamp, database.Prepare("UPDATE entries SET last_used_ms=? WHERE digest=?"));
  const int64_t now_ms = NowMs();
  for (const auto& [digest, is_due] : used_) {
    if (is_due) HEARTH_TRY(stamp.Bind(0, now_ms).Bind(1, digest.bytes).Run());
  }
  return Status::Ok();
}

Result<bool> SessionRecords::HasNewsOfModel(Database& database, const std::vector<Fingerprint>& used) const {
  if (model_.fingerprint.empty() || used.empty()) return false;
  if (has_put_ || has_due_stamps()) return true;
  HEARTH_ASSIGN(const bool is_known, KnowsModel(database, model_, used));
  return !is_known;
}

Status SessionRecords::WriteAll(Database& database, const StoreCounters& so_far) {
  const CounterDeltas deltas = DeltasOf(so_far, written_);
  const bool has_counts = std::ranges::any_of(deltas, [](const auto& delta) { return delta.second != 0; });
  // Each use increases a counter, so without changed counters there is no news of a model either.
  if (!has_due_stamps() && !has_counts && !marks_.has_news() && !names_.has_news() && !misses_.has_news() &&
      seen_ms_ == 0)
    return Status::Ok();
  std::vector<Fingerprint> used;
  for (const auto& [digest, is_due] : used_) used.push_back(digest);
  HEARTH_ASSIGN(const bool has_news_of_model, HasNewsOfModel(database, used));
  HEARTH_TRY(misses_.FindReasons(database, model_));

  HEARTH_ASSIGN(Transaction transaction, Transaction::Begin(database));
  HEARTH_TRY(WriteStamps(database));
  HEARTH_TRY(WriteCounters(database, deltas));
  HEARTH_TRY(NoteTime(database, std::max(NowMs(), seen_ms_)));
  HEARTH_TRY(marks_.Store(database));
  HEARTH_TRY(names_.Store(database));
  HEARTH_TRY(misses_.Store(database));
  if (has_news_of_model) HEARTH_TRY(NoteModel(database, model_, used));
  HEARTH_TRY(transaction.Commit());
  marks_.OnStored();
  names_.OnStored();
  misses_.OnStored();
  for (auto& [digest, is_due] : used_) is_due = false;
  written_ = so_far;
  seen_ms_ = 0;
  return Status::Ok();
}

}  // namespace hearth
