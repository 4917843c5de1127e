// Stores entries: at once, or collected in memory until a batch ends or a lock is free.
#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "cache/budget.h"
#include "cache/entry_row.h"
#include "cache/leftover.h"
#include "cache/needed_source.h"
#include "cache/quarantine.h"
#include "cache/sqlite_store.h"
#include "cache/store_names.h"
#include "cache/write_ahead_log.h"
#include "core/base/text_bytes.h"

namespace hearth {
namespace {

// The most bytes that wait in memory for a transaction; the transaction's log grows by as much.
constexpr uint64_t kMaxPendingBytes = 48 << 20;

}  // namespace

// The requests without those that sqlite can't store, which are counted and reported.
std::vector<SqliteStore::NewEntry> SqliteStore::WithDigests(std::span<const PutRequest> requests) {
  uint64_t max_bytes = UINT64_MAX;
  {
    const std::scoped_lock lock(mutex_);
    if (database_) max_bytes = database_->max_value_bytes();
  }
  std::vector<NewEntry> entries;
  for (const PutRequest& request : requests) {
    const uint64_t size_bytes = std::max<uint64_t>(request.bytes.size(), request.key->material().size());
    if (size_bytes <= max_bytes) {
      entries.push_back({request.key, request.bytes, request.cost_ms, request.origin, request.key->digest(),
                         FingerprintOf(request.bytes)});
      continue;
    }
    const std::scoped_lock lock(mutex_);
    ++counters_.put_errors;
    warnings_.Add(
        "too large",
        fmt::format("an entry of {} bytes ({}) exceeds the limit for one ({}): it is made again at each start",
                    size_bytes, BlobKindName(request.key->kind()), max_bytes));
  }
  return entries;
}

void SqliteStore::Put(std::span<const PutRequest> requests) {
  if (IsForked()) return;
  const std::vector<NewEntry> entries = WithDigests(requests);
  if (entries.empty()) return;
  const std::scoped_lock lock(mutex_);
  if (!Writable()) {
    counters_.put_errors += entries.size();
    return;
  }
  for (const NewEntry& entry : entries) {
    const bool is_made_here = entry.origin.empty() && !options_.model.fingerprint.empty();
    if (is_made_here) misses_.Make(entry.digest, entry.key->kind(), entry.key->material());
  }
  if (open_batches_ == 0 && pending_.empty()) {
    const Status status = Store(entries, true);
    if (status.code() == StatusCode::kUnavailable) Keep(entries);
    return;
  }
  Keep(entries);
  if (open_batches_ == 0 || pending_bytes_ > kMaxPendingBytes) StorePending();
}

void SqliteStore::BeginBatch() {
  if (IsForked()) return;
  const std::scoped_lock lock(mutex_);
  ++open_batches_;
}

void SqliteStore::EndBatch() {
  if (IsForked()) return;
  const std::scoped_lock lock(mutex_);
  if (--open_batches_ == 0) StorePending();
}

void SqliteStore::Keep(std::span<const NewEntry> entries) {
  for (const NewEntry& entry : entries) {
    PendingEntry pending{
        *entry.key, {entry.bytes.begin(), entry.bytes.end()}, entry.cost_ms, std::string(entry.origin), entry.checksum};
    const auto [place, is_new] = pending_.try_emplace(entry.digest, pending);
    if (!is_new) {
      pending_bytes_ -= place->second.bytes.size();
      place->second = std::move(pending);
    }
    pending_bytes_ += entry.bytes.size();
    hidden_.erase(entry.digest);
  }
}

void SqliteStore::StorePending() {
  if (pending_.empty()) return;
  std::vector<NewEntry> entries;
  for (const auto& [digest, pending] : pending_) {
    entries.push_back({&pending.key, pending.bytes, pending.cost_ms, pending.origin, digest, pending.checksum});
  }
  if (const Status status = Store(entries, false); status.code() == StatusCode::kUnavailable) {
    if (pending_bytes_ <= kMaxPendingBytes) return;
    counters_.put_errors += entries.size();
  }
  pending_.clear();
  pending_bytes_ = 0;
  held_claims_.clear();
}

// Another process has kept the store locked until the end of this session.
void SqliteStore::LeavePending() {
  std::vector<PutRequest> requests;
  for (const auto& [digest, pending] : pending_) {
    // Entries from elsewhere can be fetched again, and a leftover would not say who signed them.
    if (pending.origin.empty()) requests.push_back({&pending.key, pending.bytes, pending.cost_ms});
  }
  if (!requests.empty()) LeaveForLater(options_.folder, requests);
}

// Stores the leftovers of earlier sessions.
void SqliteStore::StoreLeftovers() {
  if (!Writable()) return;
  TakeLeftovers(options_.folder, [this](std::span<const PutRequest> requests) {
    const std::vector<NewEntry> entries = WithDigests(requests);
    const bool is_done = entries.empty() || Store(entries, false).code() != StatusCode::kUnavailable;
    used_.clear();  // this session does not use them
    barred_puts_ = {};
    return is_done;
  });
}

// Counts and reports the failure, except kUnavailable, after which the entry may be put again.
Status SqliteStore::Store(std::span<const NewEntry> entries, bool all_or_nothing) {
  size_t left_out = 0;
  FollowTheName();
  if (!Writable()) {
    counters_.put_errors += entries.size();
    return Error(StatusCode::kIoError, "the cache is gone");
  }
  const auto store_all = [&] { return StoreAll(entries, all_or_nothing, left_out); };
  Status status = WriteInNamedFile(store_all);
  if (status.code() == StatusCode::kMalformedInput && ReadAgain(status) && Writable()) status = store_all();
  if (status.code() == StatusCode::kMalformedInput) {
    Heal(status);
    if (Writable()) status = store_all();
  }
  if (status.ok()) KeepLogInBudget(0);
  if (!status.ok()) OnTrouble("writing", status);
  if (status.code() == StatusCode::kUnavailable) return status;
  counters_.put_errors += status.ok() ? left_out : entries.size();
  return status;
}

// The log counts too. It can be copied into the file and restarted when no session reads in it.
void SqliteStore::KeepLogInBudget(uint64_t needed_bytes) {
  if (LogBytes(*database_) == 0 || BytesWithLog(file_) + needed_bytes <= options_.max_bytes) return;
  EmptyLog(*database_, 0, &waits_.others);
}

// Within the transaction that stores the entries: a revocation either deletes them afterwards, or is seen here.
Result<std::vector<SqliteStore::NewEntry>> SqliteStore::WithoutRevoked(std::span<const NewEntry> entries) {
  std::vector<NewEntry> left(entries.begin(), entries.end());
  if (std::ranges::all_of(left, [](const NewEntry& entry) { return SignerIn(entry.origin).empty(); })) return left;
  HEARTH_ASSIGN(const std::set<Revocation> now, ReadRevocations(*database_));
  std::erase_if(left, [&](const NewEntry& entry) { return IsRevokedSince(revocations_, now, entry.origin); });
  if (left.size() < entries.size()) {
    warnings_.Add("revoked", "a key was revoked during this run: entries that it signed are not stored");
  }
  return left;
}

Status SqliteStore::StoreAll(std::span<const NewEntry> wanted, bool all_or_nothing, size_t& left_out) {
  left_out = 0;
  uint64_t new_bytes = 0;
  for (const NewEntry& entry : wanted) new_bytes += entry.bytes.size();
  KeepLogInBudget(new_bytes);
  HEARTH_ASSIGN(Transaction transaction, Transaction::Begin(*database_));
  HEARTH_ASSIGN(std::vector<NewEntry> entries, WithoutRevoked(wanted));
  // Programs last: one whose source is not stored would be of no use.
  std::stable_partition(entries.begin(), entries.end(),
                        [](const NewEntry& each) { return each.key->kind() != BlobKind::kProgram; });
  HEARTH_ASSIGN(const int64_t free_before, database_->Number("PRAGMA freelist_count"));
  for (const NewEntry& entry : entries) HEARTH_TRY(DeleteEntry(*database_, entry.digest));
  HEARTH_ASSIGN(const bool has_room_for_all, HasRoom(entries, {}));
  const Status no_room =
      Error(StatusCode::kResourceExhausted,
            "the cache's {} bytes have no room for the new entries beside those that this run uses: raise its limit",
            options_.max_bytes);
  if (!has_room_for_all && all_or_nothing) return no_room;
  std::vector<const NewEntry*> stored;
  BarredPuts barred;
  std::set<Fingerprint> digests, refused;  // of the stored entries, and of those that have no room
  for (const NewEntry& entry : entries) {
    const std::optional<CacheKey> source = SourceNeededBy(*entry.key, entry.bytes);
    bool is_wanted = !source || !refused.contains(source->digest());
    if (is_wanted && !has_room_for_all) {
      HEARTH_ASSIGN(is_wanted, HasRoom({&entry, 1}, digests));
    }
    if (!is_wanted) {
      ++left_out;
      refused.insert(entry.digest);
      continue;
    }
    // If a key occurs twice, the later entry counts.
    if (!digests.insert(entry.digest).second) HEARTH_TRY(DeleteEntry(*database_, entry.digest));
    HEARTH_ASSIGN(const bool is_accepted, Insert(entry));
    if (is_accepted) {
      stored.push_back(&entry);
    } else {
      CountBarred(entry, barred);
    }
  }
  if (std::ranges::any_of(stored, [](const NewEntry* entry) { return !entry->origin.empty(); }))
    HEARTH_TRY(NoteOthers());
  HEARTH_TRY(names_.Store(*database_));
  // Returns to the file system the pages that eviction freed and the new entries do not need. Pages that were free
  // before are left to a running prune.
  HEARTH_ASSIGN(const int64_t free_pages, database_->Number("PRAGMA freelist_count"));
  if (free_pages > free_before) {
    HEARTH_TRY(database_->Run(fmt::format("PRAGMA incremental_vacuum({})", free_pages - free_before)));
  }
  HEARTH_TRY(transaction.Commit());
  names_.OnStored();
  if (left_out > 0) OnTrouble("writing", no_room);
  left_out += wanted.size() - entries.size();
  has_put_ = true;
  barred_puts_.entries += barred.entries;
  barred_puts_.bytes += barred.bytes;
  barred_puts_.until_ms = std::max(barred_puts_.until_ms, barred.until_ms);
  for (const NewEntry* entry : stored) {
    counters_.bytes_written += entry->bytes.size();
    used_.emplace(entry->digest, false);
    hidden_.erase(entry->digest);
  }
  return Status::Ok();
}

Result<bool> SqliteStore::HasRoom(std::span<const NewEntry> entries, const std::set<Fingerprint>& stored) {
  HEARTH_ASSIGN(const int64_t page_bytes, database_->Number("PRAGMA page_size"));
  uint64_t needed_bytes = 0;
  for (const NewEntry& entry : entries) {
    needed_bytes += EntryBytes(entry.bytes.size(), entry.key->material().size(), static_cast<uint64_t>(page_bytes));
  }
  const auto limit = [&] {
    return options_.max_bytes - std::min(options_.max_bytes, BytesWithLog(DamagedFile(options_.folder)));
  };
  if (limit() < options_.max_bytes) {
    HEARTH_ASSIGN(const uint64_t used_bytes, UsedBytes(*database_));
    if (used_bytes + needed_bytes > limit()) RemoveWithSideFiles(DamagedFile(options_.folder));
  }
  return MakeRoom(*database_, needed_bytes, limit(),
                  [&](const Fingerprint& digest) { return used_.contains(digest) || stored.contains(digest); });
}

Status SqliteStore::NoteOthers() {
  has_others_ = true;
  return database_->Run("INSERT OR IGNORE INTO counters VALUES('others', 1)");
}

void SqliteStore::CountBarred(const NewEntry& entry, BarredPuts& barred) const {
  ++barred.entries;
  barred.bytes += entry.bytes.size();
  barred.until_ms = std::max(barred.until_ms, on_probation_.at(entry.digest).until_ms);
}

Result<bool> SqliteStore::Insert(const NewEntry& entry) {
  if (on_probation_.contains(entry.digest)) {
    HEARTH_ASSIGN(const bool is_barred, IsBarred(*database_, entry.digest, entry.checksum));
    if (is_barred) return false;
  }
  HEARTH_ASSIGN(
      Statement row,
      database_->Prepare(
          "INSERT INTO entries(digest, kind, material, size_bytes, checksum, cost_ms, created_ms, last_used_ms,"
          " origin) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id"));
  const int64_t now_ms = NowMs();
  row.Bind(0, entry.digest.bytes).Bind(1, BlobKindName(entry.key->kind())).Bind(2, BytesOf(entry.key->material()));
  row.Bind(3, static_cast<int64_t>(entry.bytes.size())).Bind(4, entry.checksum.bytes).Bind(5, entry.cost_ms);
  row.Bind(6, now_ms).Bind(7, now_ms).Bind(8, entry.origin.empty() ? std::string_view("") : entry.origin);
  HEARTH_ASSIGN(const bool is_made, row.Step());
  const int64_t id = is_made ? row.Number(0) : 0;
  HEARTH_TRY(row.Run());
  HEARTH_ASSIGN(Statement blob, database_->Prepare("INSERT INTO blobs(id, bytes) VALUES(?, ?)"));
  HEARTH_TRY(blob.Bind(0, id).Bind(1, entry.bytes).Run());
  return true;
}

}  // namespace hearth
