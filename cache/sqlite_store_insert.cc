// The transaction that stores entries: which of them, in which order, and what makes room for them.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cache/budget.h"
#include "cache/entry_row.h"
#include "cache/needed_source.h"
#include "cache/put_order.h"
#include "cache/quarantine.h"
#include "cache/source_users.h"
#include "cache/sqlite_store.h"
#include "cache/store_names.h"
#include "core/base/text.h"

namespace hearth {

Status SqliteStore::StoreAll(std::span<const NewEntry> wanted, size_t& left_out) {
  left_out = 0;
  uint64_t new_bytes = 0;
  for (const NewEntry& entry : wanted) new_bytes += entry.bytes.size();
  KeepLogInBudget(new_bytes);
  PutOutcome outcome;
  HEARTH_ASSIGN(Transaction transaction, Transaction::Begin(*database_));
  HEARTH_ASSIGN(const std::vector<NewEntry> entries, EntriesToStore(wanted, outcome));
  HEARTH_ASSIGN(const int64_t free_before, database_->Number("PRAGMA freelist_count"));
  for (const NewEntry& entry : entries) HEARTH_TRY(DeleteEntry(*database_, entry.digest));
  HEARTH_ASSIGN(const bool has_room_for_all, HasRoom(entries, outcome));
  for (const NewEntry& entry : entries) HEARTH_TRY(StoreOne(entry, has_room_for_all, outcome));
  HEARTH_TRY(DeleteProgramsOf(outcome));
  if (std::ranges::any_of(outcome.stored, [](const NewEntry* entry) { return !entry->origin.empty(); }))
    HEARTH_TRY(NoteOthers());
  HEARTH_TRY(names_.Store(*database_));
  HEARTH_TRY(ReturnFreedPages(free_before));
  HEARTH_TRY(transaction.Commit());
  OnStored(outcome);
  left_out = outcome.without_room + outcome.revoked;
  return Status::Ok();
}

Status SqliteStore::NoRoom() {
  LeastSize least;
  if (const Result<LeastSize> read = LeastSizeOf(*database_); read.ok()) least = *read;
  std::string why = WhyTooSmall(least, options_.max_bytes);
  if (why.empty()) {
    why = used_.empty() && needed_.empty() ? "it is smaller than they are" : "this run uses or has stored the rest";
    if (least.pinned_bytes > 0) why += fmt::format(", and pinned models have {} bytes", least.pinned_bytes);
    why += ": raise its limit (HEARTH_CACHE_MAX_SIZE or --cache-max-bytes)";
  }
  return Error(StatusCode::kResourceExhausted, "the cache's {} bytes have no room for the new entries: {}",
               options_.max_bytes, why);
}

// The entries that must be written, in the order in which they get room.
Result<std::vector<SqliteStore::NewEntry>> SqliteStore::EntriesToStore(std::span<const NewEntry> wanted,
                                                                       PutOutcome& outcome) {
  HEARTH_ASSIGN(std::vector<NewEntry> entries, WithoutRevoked(wanted, outcome));
  HEARTH_TRY(LeaveOutWhatIsThere(entries, outcome));
  std::vector<NewEntry> ordered = InOrderOfWorth(std::move(entries));
  // A delta brings programs whose sources came with another bundle: these make no room for what is of no use without
  // them. Also in later transactions of this session, and without counting as used by it.
  for (const NewEntry& entry : ordered) {
    if (entry.source) needed_.insert(*entry.source);
  }
  return ordered;
}

std::vector<SqliteStore::NewEntry> SqliteStore::InOrderOfWorth(std::vector<NewEntry> entries) {
  std::vector<PutSize> sizes;
  for (NewEntry& entry : entries) {
    if (const auto source = SourceNeededBy(*entry.key, entry.bytes)) entry.source = source->digest();
    sizes.push_back({entry.digest, entry.source, entry.cost_ms, entry.bytes.size()});
  }
  std::vector<NewEntry> ordered;
  for (const size_t k : MostWorthFirst(sizes)) ordered.push_back(entries[k]);
  return ordered;
}

// Within the transaction that stores the entries: a revocation either deletes them afterwards, or is seen here.
Result<std::vector<SqliteStore::NewEntry>> SqliteStore::WithoutRevoked(std::span<const NewEntry> entries,
                                                                       PutOutcome& outcome) {
  std::vector<NewEntry> left(entries.begin(), entries.end());
  if (std::ranges::all_of(left, [](const NewEntry& entry) { return SignerIn(entry.origin).empty(); })) return left;
  HEARTH_ASSIGN(const KnownRevocations now, ReadRevocations(*database_));
  const bool can_tell = now.lineage == revocations_.lineage;
  std::erase_if(left, [&](const NewEntry& entry) {
    const bool is_revoked =
        can_tell ? IsRevokedSince(revocations_, now, entry.origin) : !SignerIn(entry.origin).empty();
    if (is_revoked) Refuse(entry, {Refusal::Why::kRevoked}, outcome);
    return is_revoked;
  });
  if (left.size() < entries.size()) {
    warnings_.Add("revoked",
                  can_tell ? "a key was revoked during this run: entries that it signed are not stored"
                           : "the cache was damaged or removed during this run, and with it the list of revoked keys: "
                             "signed entries are not stored now; the next start may store them");
  }
  return left;
}

// A session puts sources again that it loaded (hal/load_or_compile.h). Where the bytes are the same, the entry stays as
// it is, with its origin: writing all of them after each update of a driver would be for nothing. Only a signer that is
// accepted now takes over what another bundle or server brought: else revoking the earlier signer would delete the
// source of programs that the later one has signed. What was made here stays so, and unsigned bytes take nothing over,
// since a revocation must still find the signer.
Status SqliteStore::LeaveOutWhatIsThere(std::vector<NewEntry>& entries, PutOutcome& outcome) {
  HEARTH_ASSIGN(Statement row,
                database_->Prepare("UPDATE entries SET cost_ms=max(cost_ms, ?1), last_used_ms=?2, origin=CASE WHEN"
                                   " origin='' OR ?7='' THEN origin ELSE ?7 END WHERE"
                                   " digest=?3 AND kind=?4 AND material=?5 AND checksum=?6 RETURNING id"));
  std::vector<NewEntry> others;
  for (const NewEntry& entry : entries) {
    bool is_there = entry.key->kind() == BlobKind::kSource && !hidden_.contains(entry.digest);
    if (is_there) {
      row.Bind(0, entry.cost_ms).Bind(1, NowMs()).Bind(2, entry.digest.bytes).Bind(3, BlobKindName(entry.key->kind()));
      row.Bind(4, BytesOf(entry.key->material())).Bind(5, entry.checksum.bytes);
      row.Bind(6, SignerIn(entry.origin).empty() ? std::string_view("") : entry.origin);
      HEARTH_ASSIGN(is_there, row.Step());
      if (is_there) HEARTH_TRY(row.Run());
      row.Reset();
    }
    if (is_there) outcome.present.insert(entry.digest);
    if (!is_there) others.push_back(entry);
  }
  entries = std::move(others);
  return Status::Ok();
}

// What a refused source keeps out with it would be rejected at each start.
Status SqliteStore::StoreOne(const NewEntry& entry, bool has_room, PutOutcome& outcome) {
  if (const auto cause = outcome.refused.find(entry.source.value_or(entry.digest));
      entry.source && cause != outcome.refused.end()) {
    Refuse(entry, Refusal(cause->second), outcome);
    return Status::Ok();
  }
  if (!has_room) {
    HEARTH_ASSIGN(has_room, HasRoom({&entry, 1}, outcome));
  }
  if (!has_room) {
    Refuse(entry, {Refusal::Why::kNoRoom}, outcome);
    return Status::Ok();
  }
  // If a key occurs twice, the later entry counts.
  if (!outcome.present.insert(entry.digest).second) HEARTH_TRY(DeleteEntry(*database_, entry.digest));
  HEARTH_ASSIGN(const bool is_accepted, Insert(entry));
  if (is_accepted) {
    outcome.stored.push_back(&entry);
  } else {
    Refuse(entry, {Refusal::Why::kBarred, on_probation_.at(entry.digest).until_ms}, outcome);
  }
  return Status::Ok();
}

void SqliteStore::Refuse(const NewEntry& entry, Refusal refusal, PutOutcome& outcome) {
  outcome.refused.insert_or_assign(entry.digest, refusal);
  switch (refusal.why) {
    case Refusal::Why::kNoRoom: ++outcome.without_room; break;
    case Refusal::Why::kRevoked: ++outcome.revoked; break;
    case Refusal::Why::kBarred:
      ++outcome.barred.entries;
      outcome.barred.bytes += entry.bytes.size();
      outcome.barred.until_ms = std::max(outcome.barred.until_ms, refusal.until_ms);
  }
}

Result<bool> SqliteStore::HasRoom(std::span<const NewEntry> entries, PutOutcome& outcome) {
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
  return MakeRoom(
      *database_, needed_bytes, limit(), [&](const Fingerprint& digest) { return IsInUse(digest, outcome); },
      outcome.evicted_sources);
}

// Once for all evictions of the transaction, because all programs are read for it.
Status SqliteStore::DeleteProgramsOf(const PutOutcome& outcome) {
  HEARTH_ASSIGN(const std::vector<int64_t> programs,
                ProgramsThatNeed(*database_, outcome.evicted_sources,
                                 [&](const Fingerprint& digest) { return IsInUse(digest, outcome); }));
  for (const int64_t id : programs) HEARTH_TRY(DeleteEntry(*database_, id));
  return Status::Ok();
}

// Returns to the file system the pages that eviction freed and the new entries do not need. Pages that were free
// before are left to a running prune.
Status SqliteStore::ReturnFreedPages(int64_t free_before) {
  HEARTH_ASSIGN(const int64_t free_pages, database_->Number("PRAGMA freelist_count"));
  if (free_pages <= free_before) return Status::Ok();
  return database_->Run(fmt::format("PRAGMA incremental_vacuum({})", free_pages - free_before));
}

void SqliteStore::OnStored(const PutOutcome& outcome) {
  names_.OnStored();
  if (outcome.without_room > 0) OnTrouble("writing", NoRoom());
  has_put_ = true;
  barred_puts_.entries += outcome.barred.entries;
  barred_puts_.bytes += outcome.barred.bytes;
  barred_puts_.until_ms = std::max(barred_puts_.until_ms, outcome.barred.until_ms);
  for (const NewEntry* entry : outcome.stored) {
    counters_.bytes_written += entry->bytes.size();
    hidden_.erase(entry->digest);
  }
  for (const Fingerprint& digest : outcome.present) {
    if (!outcome.refused.contains(digest)) used_.emplace(digest, false);
  }
}

Status SqliteStore::NoteOthers() {
  has_others_ = true;
  return database_->Run("INSERT OR IGNORE INTO counters VALUES('others', 1)");
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
