// Stores entries: at once, or collected in memory until a batch ends or a lock is free.
#include <sys/statvfs.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "cache/budget.h"
#include "cache/entry_row.h"
#include "cache/leftover.h"
#include "cache/sqlite_store.h"
#include "cache/store_names.h"
#include "cache/write_ahead_log.h"
#include "core/base/text.h"

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
      entries.push_back({request.key, request.bytes, BoundedCostMs(request.cost_ms), request.origin,
                         request.key->digest(), FingerprintOf(request.bytes)});
      continue;
    }
    const std::scoped_lock lock(mutex_);
    ++counters_.put_errors;
    warnings_.Add(
        "too large",
        fmt::format("an entry of {} bytes ({}) exceeds the limit for one ({}): it is made again at each start",
                    size_bytes, BlobKindName(request.key->kind()), max_bytes));
  }
  NoteOrigins(entries);
  return entries;
}

// What this session read keeps its origin, also if a revocation has deleted the entry since. The same bytes made anew
// are made here.
void SqliteStore::NoteOrigins(std::vector<NewEntry>& entries) {
  const std::scoped_lock lock(mutex_);
  for (NewEntry& entry : entries) {
    if (entry.origin.empty()) {
      entry.origin = origins_.Find(entry.digest, entry.checksum).value_or("");
    } else {
      origins_.Note(entry.digest, entry.checksum, entry.origin);
    }
  }
  PassOnOrigins(std::span(entries));
}

std::optional<std::string> SqliteStore::OriginOf(const CacheKey& key, std::span<const std::byte> bytes) {
  if (IsForked()) return std::nullopt;
  const Fingerprint checksum = FingerprintOf(bytes);
  const std::scoped_lock lock(mutex_);
  const auto origin = origins_.Find(key.digest(), checksum);
  return origin ? std::optional<std::string>(*origin) : std::nullopt;
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
    const Status status = Store(entries);
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
  if (const Status status = Store(entries); status.code() == StatusCode::kUnavailable) {
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
    const bool is_done = entries.empty() || Store(entries).code() != StatusCode::kUnavailable;
    used_.clear();  // this session does not use them
    needed_.clear();
    barred_puts_ = {};
    return is_done;
  });
}

// Counts and reports the failure, except kUnavailable, after which the entry may be put again.
Status SqliteStore::Store(std::span<const NewEntry> entries) {
  size_t left_out = 0;
  FollowTheName();
  if (!Writable()) {
    counters_.put_errors += entries.size();
    return Error(StatusCode::kIoError, "the cache is gone");
  }
  const auto store_all = [&] { return StoreAll(entries, left_out); };
  Status status = WriteInNamedFile(store_all);
  if (status.code() == StatusCode::kMalformedInput && ReadAgain(status) && Writable()) status = store_all();
  if (status.code() == StatusCode::kMalformedInput) {
    Heal(status);
    if (Writable()) status = store_all();
  }
  if (status.code() == StatusCode::kResourceExhausted && Writable()) status = StoreWhatFits(entries, status, left_out);
  if (status.ok()) KeepLogInBudget(0);
  if (!status.ok()) OnTrouble("writing", status);
  if (status.code() == StatusCode::kUnavailable) return status;
  counters_.put_errors += status.ok() ? left_out : entries.size();
  return status;
}

// The disk was too small for all entries at once, each of which takes room in the log and then in the file. So those
// most worth come one by one, and the log is emptied before each: it keeps the size that the failed ones gave it.
Status SqliteStore::StoreWhatFits(std::span<const NewEntry> entries, const Status& full, size_t& left_out) {
  left_out = 0;
  OnTrouble("writing", full);
  std::set<Fingerprint> wanted;
  for (const NewEntry& entry : entries) wanted.insert(entry.digest);
  for (const NewEntry& entry : InOrderOfWorth({entries.begin(), entries.end()})) {
    EmptyLog(*database_, 0, &waits_.others);
    // A program without its source would be rejected at each start.
    const bool lacks_source = entry.source && wanted.contains(*entry.source) && !used_.contains(*entry.source);
    size_t refused = 1;
    if (!lacks_source && HasRoomOnDisk(entry)) {
      const Status status = StoreAll({&entry, 1}, refused);
      if (status.code() == StatusCode::kMalformedInput) return status;
      if (!status.ok()) refused = 1;
    }
    left_out += refused;
  }
  EmptyLog(*database_, 0, &waits_.others);
  return Status::Ok();
}

// In the log, with the pages that change, and then in the file: a log that can't be copied into the file stays.
bool SqliteStore::HasRoomOnDisk(const NewEntry& entry) {
  constexpr uint64_t kChangedPages = 8;
  struct statvfs disk = {};
  const Result<int64_t> page_number = database_->Number("PRAGMA page_size");
  if (::statvfs(file_.c_str(), &disk) != 0 || !page_number.ok()) return true;
  const auto page_bytes = static_cast<uint64_t>(*page_number);
  const uint64_t entry_bytes = EntryBytes(entry.bytes.size(), entry.key->material().size(), page_bytes);
  return uint64_t{disk.f_bavail} * disk.f_frsize >= 2 * entry_bytes + kChangedPages * page_bytes;
}

// The log counts too. It can be copied into the file and restarted when no session reads in it.
void SqliteStore::KeepLogInBudget(uint64_t needed_bytes) {
  if (LogBytes(*database_) == 0 || BytesWithLog(file_) + needed_bytes <= options_.max_bytes) return;
  EmptyLog(*database_, 0, &waits_.others);
}

}  // namespace hearth
