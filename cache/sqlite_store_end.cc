// The writes at the end of a session.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <system_error>
#include <utility>
#include <vector>

#include "cache/entry_row.h"
#include "cache/latest_time.h"
#include "cache/quarantine.h"
#include "cache/sqlite_store.h"
#include "cache/store_names.h"

namespace hearth {
namespace {

// The next opener reads the log; 1 MiB takes about 0.3 ms.
constexpr uint64_t kMaxLogLeftBytes = 1 << 20;

}  // namespace

void SqliteStore::Flush() {
  if (IsForked()) return;
  const std::scoped_lock lock(mutex_);
  StorePending();
  FollowTheName();
  if (!Writable()) return;
  // A start that only read leaves a page or two in the log, and so avoids the two fsyncs of a checkpoint.
  std::error_code error;
  const uint64_t log_bytes = std::filesystem::file_size(file().string() + "-wal", error);
  if (has_put_) {
    RemoveDeadClaims(options_.folder);
    ::unlink(ClearedFile(options_.folder).c_str());
  }
  database_->SetCheckpointAtClose(has_put_ || error || log_bytes > kMaxLogLeftBytes);
  Status status = WriteStampsAndCounters();
  // Damage that sqlite does not notice may spoil later entries again and again. Finding it means reading the whole
  // file, which is done only in this case.
  if (status.ok() && std::exchange(has_met_damage_, false)) status = database_->CheckStructure();
  if (status.code() == StatusCode::kMalformedInput && ReadAgain(status)) status = database_->CheckStructure();
  // A failure loses only statistics and the order of eviction.
  if (status.code() == StatusCode::kMalformedInput) Heal(status);
}

int64_t SqliteStore::LatestTimeMs() {
  const std::scoped_lock lock(mutex_);
  return IsForked() || !database_ ? 0 : hearth::LatestTimeMs(*database_);
}

void SqliteStore::SeeTime(int64_t time_ms) {
  const std::scoped_lock lock(mutex_);
  seen_ms_ = std::max(seen_ms_, time_ms);
}

Status SqliteStore::WriteStampsAndCounters() {
  const bool has_stamps = std::ranges::any_of(used_, [](const auto& used) { return used.second; });
  const std::pair<std::string_view, double> deltas[] = {
      {"hits", static_cast<double>(counters_.hits - flushed_.hits)},
      {"misses", static_cast<double>(counters_.misses - flushed_.misses)},
      {"rejected", static_cast<double>(counters_.rejected - flushed_.rejected)},
      {"put_errors", static_cast<double>(counters_.put_errors - flushed_.put_errors)},
      {"bytes_read", static_cast<double>(counters_.bytes_read - flushed_.bytes_read)},
      {"bytes_written", static_cast<double>(counters_.bytes_written - flushed_.bytes_written)},
      {"milliseconds_saved", counters_.milliseconds_saved - flushed_.milliseconds_saved},
  };
  const bool has_counts = std::ranges::any_of(deltas, [](const auto& delta) { return delta.second != 0; });
  // Each use increases a counter, so without changed counters there is no news of a model either.
  if (!has_stamps && !has_counts && acquitted_.empty() && !names_.has_news() && !misses_.has_news() && seen_ms_ == 0)
    return Status::Ok();
  bool has_news_of_model = !options_.model.fingerprint.empty() && !used_.empty();
  std::vector<Fingerprint> used;
  if (has_news_of_model) {
    for (const auto& [digest, is_due] : used_) used.push_back(digest);
  }
  if (has_news_of_model && !has_put_ && !has_stamps) {
    HEARTH_ASSIGN(const bool is_known, KnowsModel(*database_, options_.model, used));
    has_news_of_model = !is_known;
  }
  HEARTH_TRY(misses_.FindReasons(*database_, options_.model));

  HEARTH_ASSIGN(Transaction transaction, Transaction::Begin(*database_));
  if (has_stamps) {
    HEARTH_ASSIGN(Statement stamp, database_->Prepare("UPDATE entries SET last_used_ms=? WHERE digest=?"));
    const int64_t now_ms = NowMs();
    for (const auto& [digest, is_due] : used_) {
      if (is_due) HEARTH_TRY(stamp.Bind(0, now_ms).Bind(1, digest.bytes).Run());
    }
  }
  HEARTH_ASSIGN(Statement count,
                database_->Prepare(
                    "INSERT INTO counters VALUES(?, ?) ON CONFLICT(name) DO UPDATE SET value=value + excluded.value"));
  for (const auto& [name, delta] : deltas) {
    // sqlite would add NULL, which the table refuses.
    if (delta != 0 && std::isfinite(delta)) HEARTH_TRY(count.Bind(0, name).Bind(1, delta).Run());
  }
  HEARTH_TRY(NoteTime(*database_, std::max(NowMs(), seen_ms_)));
  HEARTH_TRY(Acquit(*database_, acquitted_));
  HEARTH_TRY(names_.Store(*database_));
  HEARTH_TRY(misses_.Store(*database_));
  if (has_news_of_model) HEARTH_TRY(NoteModel(*database_, options_.model, used));
  HEARTH_TRY(transaction.Commit());
  names_.OnStored();
  misses_.OnStored();
  for (auto& [digest, is_due] : used_) is_due = false;
  for (const Fingerprint& digest : acquitted_) on_probation_.erase(digest);
  acquitted_.clear();
  flushed_ = counters_;
  seen_ms_ = 0;
  return Status::Ok();
}

}  // namespace hearth
