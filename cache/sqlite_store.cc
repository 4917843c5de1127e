#include "cache/sqlite_store.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "cache/budget.h"
#include "cache/entry_row.h"
#include "cache/quarantine.h"

namespace hearth {
namespace {

// The next opener reads a log that was left: 1 MiB takes about 0.3 ms.
constexpr uint64_t kMaxLogLeftBytes = 1 << 20;
constexpr int kStampWaitMs = 100;  // nobody waits for statistics

int64_t NowMs() {
  using std::chrono::milliseconds;
  return std::chrono::duration_cast<milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::span<const std::byte> BytesOf(std::string_view text) {
  return std::as_bytes(std::span(text));
}

// An entry and its blob or neither: alone, either would be damage.
Status DeleteWhole(Database& database, const Fingerprint& digest) {
  HEARTH_ASSIGN(Transaction transaction, Transaction::Begin(database));
  HEARTH_TRY(DeleteEntry(database, digest));
  return transaction.Commit();
}

}  // namespace

Result<std::unique_ptr<SqliteStore>> SqliteStore::Open(StoreOptions options) {
  const FolderUse use = !options.read_only  ? FolderUse::kCreate
                        : options.immutable ? FolderUse::kReadOnlyLayer
                                            : FolderUse::kExisting;
  HEARTH_ASSIGN(options.folder, PrepareFolder(options.folder, use));
  Warnings warnings;
  HEARTH_ASSIGN(Database database, OpenStoreFile(options, warnings));
  std::unique_ptr<SqliteStore> store(new SqliteStore(std::move(options), std::move(database), std::move(warnings)));
  if (const Status status = store->PrepareStatements(); !status.ok()) {
    store->OnTrouble("opening", status);
    if (!store->find_) return status;
  }
  store->QuarantineDeadUses();
  return store;
}

SqliteStore::SqliteStore(StoreOptions options, Database database, Warnings warnings)
    : options_(std::move(options)),
      warnings_(std::move(warnings)),
      database_(std::move(database)),
      identity_(IdentityOf(file())),
      marker_(options_.folder),
      claims_(options_.folder, options_.making_wait_ms),
      read_only_(database_->read_only()) {
  if (read_only_ && !options_.read_only) {
    warnings_.Add("read-only",
                  fmt::format("{} can't be written: what it holds is used, nothing new is stored", file().string()));
  }
}

SqliteStore::~SqliteStore() {
  Flush();
}

Status SqliteStore::PrepareStatements() {
  HEARTH_ASSIGN(
      find_, database_->Prepare(
                 "SELECT id, kind, material, size_bytes, checksum, cost_ms, last_used_ms FROM entries WHERE digest=?"));
  HEARTH_ASSIGN(on_probation_, QuarantinedDigests(*database_));
  return Status::Ok();
}

void SqliteStore::QuarantineDeadUses() {
  const std::vector<DeadMarker> dead = FindDeadMarkers(options_.folder);
  if (dead.empty()) return;
  size_t count = 0;
  for (const DeadMarker& marker : dead) {
    count += marker.in_use.size();
    hidden_.insert(marker.in_use.begin(), marker.in_use.end());
    on_probation_.insert(marker.in_use.begin(), marker.in_use.end());
  }
  warnings_.Add("quarantine", fmt::format("an earlier run died while it was loading {} cached item{}: rebuilding {}",
                                          count, count == 1 ? "" : "s", count == 1 ? "it" : "them"));
  if (!Writable()) return;
  if (const Status status = RecordStrikes(*database_, dead); !status.ok()) {
    OnTrouble("quarantining", status);
    return;
  }
  hidden_.clear();
}

bool SqliteStore::Get(const CacheKey& key, const Destination& destination) {
  const Fingerprint digest = key.digest();
  Found found;
  {
    const std::scoped_lock lock(mutex_);
    Result<Lookup> lookup = Find(key, digest, destination, found);
    if (!lookup.ok()) OnTrouble("reading", lookup.status());
    if (!lookup.ok() || *lookup == Lookup::kMiss) {
      ++counters_.misses;
      return false;
    }
    if (*lookup == Lookup::kReject) {
      has_met_damage_ = true;
      ++counters_.rejected;
      return false;
    }
  }
  // Outside the lock: other threads read meanwhile.
  const bool is_intact = FingerprintOf(found.bytes) == found.checksum;
  const std::scoped_lock lock(mutex_);
  if (!is_intact) {
    has_met_damage_ = true;
    ++counters_.rejected;
    warnings_.Add("checksum", fmt::format("a cached {} was damaged and is rebuilt", BlobKindName(key.kind())));
    hidden_.insert(digest);
    if (Writable() && DeleteWhole(*database_, digest).ok()) hidden_.erase(digest);
    return false;
  }
  ++counters_.hits;
  counters_.bytes_read += found.bytes.size();
  if (std::isfinite(found.cost_ms)) counters_.milliseconds_saved += found.cost_ms;
  return true;
}

Result<SqliteStore::Lookup> SqliteStore::Find(const CacheKey& key, const Fingerprint& digest,
                                              const Destination& destination, Found& found) {
  if (!database_ || hidden_.contains(digest)) return Lookup::kMiss;
  // Until the scope ends the statement holds a read transaction, so that entry and blob belong together.
  const StatementScope scope(*find_);
  HEARTH_ASSIGN(const bool row, find_->Bind(0, digest.bytes).Step());
  if (!row || find_->Text(1) != BlobKindName(key.kind()) ||
      !std::ranges::equal(find_->Blob(2), BytesOf(key.material()))) {
    return Lookup::kMiss;
  }
  HEARTH_ASSIGN(BlobReader blob, database_->OpenBlob("blobs", "bytes", find_->Number(0)));
  // Before the destination is asked: a damaged size must not become a huge allocation.
  if (find_->Number(3) < 0 || static_cast<uint64_t>(find_->Number(3)) != blob.size_bytes()) return Lookup::kReject;
  const std::span<std::byte> bytes = destination(blob.size_bytes());
  if (bytes.size() != blob.size_bytes()) return Lookup::kReject;
  HEARTH_TRY(blob.Read(bytes));
  found = {bytes, FingerprintFrom(find_->Blob(4)), find_->Real(5)};
  const int64_t age_ms = NowMs() - find_->Number(6);
  used_[digest] |= age_ms < 0 || age_ms >= options_.stamp_age_ms;
  return Lookup::kHit;
}

void SqliteStore::Put(std::span<const PutRequest> requests) {
  if (requests.empty()) return;
  std::vector<Fingerprint> checksums;
  for (const PutRequest& request : requests) checksums.push_back(FingerprintOf(request.bytes));
  const std::scoped_lock lock(mutex_);
  if (!Writable()) {
    counters_.put_errors += requests.size();
    return;
  }
  Status status = PutAll(requests, checksums);
  if (status.code() == StatusCode::kMalformedInput) {
    Heal(status);
    if (Writable()) status = PutAll(requests, checksums);
  }
  if (!status.ok()) {
    counters_.put_errors += requests.size();
    OnTrouble("writing", status);
    return;
  }
  for (const PutRequest& request : requests) {
    counters_.bytes_written += request.bytes.size();
    const Fingerprint digest = request.key->digest();
    used_.emplace(digest, false);
    hidden_.erase(digest);
  }
}

Status SqliteStore::PutAll(std::span<const PutRequest> requests, std::span<const Fingerprint> checksums) {
  database_->SetWait(options_.write_wait_ms);
  Result<Transaction> transaction = Transaction::Begin(*database_);
  database_->SetWait(options_.read_wait_ms);
  if (!transaction.ok()) return transaction.status();

  HEARTH_ASSIGN(const int64_t page_bytes, database_->Number("PRAGMA page_size"));
  uint64_t needed_bytes = 0;
  std::set<Fingerprint> digests;
  for (const PutRequest& request : requests) {
    const Fingerprint digest = request.key->digest();
    HEARTH_TRY(DeleteEntry(*database_, digest));
    digests.insert(digest);
    needed_bytes += EntryBytes(request.bytes.size(), request.key->material().size(), static_cast<uint64_t>(page_bytes));
  }
  HEARTH_ASSIGN(const bool has_room, MakeRoom(*database_, needed_bytes, options_.max_bytes,
                                              [this](const Fingerprint& digest) { return used_.contains(digest); }));
  if (!has_room) {
    return Error(StatusCode::kResourceExhausted,
                 "{} new bytes and what this run uses already don't fit into the cache's {} bytes: raise its limit",
                 needed_bytes, options_.max_bytes);
  }
  for (size_t i = 0; i < requests.size(); ++i) {
    // A key named twice: the later one counts.
    const Fingerprint digest = requests[i].key->digest();
    if (digests.erase(digest) == 0) HEARTH_TRY(DeleteEntry(*database_, digest));
    HEARTH_TRY(Insert(requests[i], digest, checksums[i]));
  }
  // What eviction freed and the new entries did not take goes back to the file system.
  HEARTH_TRY(database_->Run("PRAGMA incremental_vacuum"));
  HEARTH_TRY(transaction->Commit());
  has_put_ = true;
  return Status::Ok();
}

Status SqliteStore::Insert(const PutRequest& request, const Fingerprint& digest, const Fingerprint& checksum) {
  if (on_probation_.contains(digest)) {
    HEARTH_ASSIGN(const bool is_barred, IsBarred(*database_, digest, checksum));
    if (is_barred) return Status::Ok();
  }
  HEARTH_ASSIGN(
      Statement entry,
      database_->Prepare(
          "INSERT INTO entries(digest, kind, material, size_bytes, checksum, cost_ms, created_ms, last_used_ms)"
          " VALUES(?, ?, ?, ?, ?, ?, ?, ?) RETURNING id"));
  const int64_t now_ms = NowMs();
  entry.Bind(0, digest.bytes).Bind(1, BlobKindName(request.key->kind())).Bind(2, BytesOf(request.key->material()));
  entry.Bind(3, static_cast<int64_t>(request.bytes.size())).Bind(4, checksum.bytes).Bind(5, request.cost_ms);
  entry.Bind(6, now_ms).Bind(7, now_ms);
  HEARTH_ASSIGN(const bool row, entry.Step());
  const int64_t id = row ? entry.Number(0) : 0;
  HEARTH_TRY(entry.Run());
  HEARTH_ASSIGN(Statement blob, database_->Prepare("INSERT INTO blobs(id, bytes) VALUES(?, ?)"));
  return blob.Bind(0, id).Bind(1, request.bytes).Run();
}

void SqliteStore::Reject(const CacheKey& key, std::string_view reason) {
  const Fingerprint digest = key.digest();
  const std::scoped_lock lock(mutex_);
  ++counters_.rejected;
  warnings_.Add("reject",
                fmt::format("a cached {} could not be used and is rebuilt: {}", BlobKindName(key.kind()), reason));
  hidden_.insert(digest);
  if (Writable() && DeleteWhole(*database_, digest).ok()) hidden_.erase(digest);
}

void SqliteStore::BeginUse(const CacheKey& key) {
  const std::scoped_lock lock(mutex_);
  if (!read_only_) marker_.Begin(key.digest());
}

void SqliteStore::EndUse(const CacheKey& key) {
  const Fingerprint digest = key.digest();
  const std::scoped_lock lock(mutex_);
  marker_.End(digest);
  if (on_probation_.contains(digest)) acquitted_.insert(digest);
}

MakingTurn SqliteStore::TakeMakingTurn(const CacheKey& key) {
  {
    const std::scoped_lock lock(mutex_);
    if (!Writable()) return {};  // nobody would find what is made here
  }
  const Fingerprint digest = key.digest();
  MakingTurn turn = claims_.Take(digest);
  if (turn.has_waited) return turn;
  // Its maker may have finished between the look-up and the claim.
  const std::scoped_lock lock(mutex_);
  if (!find_) return turn;
  const StatementScope scope(*find_);
  const Result<bool> row = find_->Bind(0, digest.bytes).Step();
  turn.has_waited = row.ok() && *row;
  return turn;
}

bool SqliteStore::IsSuspect(const CacheKey& key) const {
  const std::scoped_lock lock(mutex_);
  return on_probation_.contains(key.digest());
}

StoreCounters SqliteStore::counters() const {
  const std::scoped_lock lock(mutex_);
  return counters_;
}

std::vector<std::string> SqliteStore::TakeWarnings() {
  const std::scoped_lock lock(mutex_);
  return warnings_.Take();
}

void SqliteStore::Flush() {
  const std::scoped_lock lock(mutex_);
  if (!Writable()) return;
  // A start that only read leaves its page or two in the log, which spares it the two fsyncs of a checkpoint.
  std::error_code error;
  const uint64_t log_bytes = std::filesystem::file_size(file().string() + "-wal", error);
  if (has_put_) RemoveDeadClaims(options_.folder);
  database_->SetCheckpointAtClose(has_put_ || error || log_bytes > kMaxLogLeftBytes);
  database_->SetWait(kStampWaitMs);
  Status status = WriteStampsAndCounters();
  database_->SetWait(options_.read_wait_ms);
  // Damage that sqlite does not notice may spoil what is stored next, again and again. Looking for it reads the whole
  // file, which only this occasion is worth.
  if (status.ok() && std::exchange(has_met_damage_, false)) status = database_->CheckStructure();
  // Otherwise nothing is lost but statistics and the order of eviction.
  if (status.code() == StatusCode::kMalformedInput) Heal(status);
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
  if (!has_stamps && !has_counts && acquitted_.empty()) return Status::Ok();

  HEARTH_ASSIGN(Transaction transaction, Transaction::Begin(*database_));
  HEARTH_ASSIGN(Statement stamp, database_->Prepare("UPDATE entries SET last_used_ms=? WHERE digest=?"));
  const int64_t now_ms = NowMs();
  for (const auto& [digest, is_due] : used_) {
    if (is_due) HEARTH_TRY(stamp.Bind(0, now_ms).Bind(1, digest.bytes).Run());
  }
  HEARTH_ASSIGN(Statement count,
                database_->Prepare(
                    "INSERT INTO counters VALUES(?, ?) ON CONFLICT(name) DO UPDATE SET value=value + excluded.value"));
  for (const auto& [name, delta] : deltas) {
    if (delta != 0) HEARTH_TRY(count.Bind(0, name).Bind(1, delta).Run());
  }
  HEARTH_TRY(Acquit(*database_, acquitted_));
  HEARTH_TRY(transaction.Commit());
  for (auto& [digest, is_due] : used_) is_due = false;
  for (const Fingerprint& digest : acquitted_) on_probation_.erase(digest);
  acquitted_.clear();
  flushed_ = counters_;
  return Status::Ok();
}

void SqliteStore::OnTrouble(std::string_view what, const Status& status) {
  if (status.code() == StatusCode::kMalformedInput) {
    Heal(status);
    return;
  }
  warnings_.Add(fmt::format("{} {}", what, StatusCodeName(status.code())),
                fmt::format("{} the cache {} failed, going on without: {}", what, file().string(), status.message()));
}

void SqliteStore::Heal(const Status& damage) {
  find_.reset();
  database_.reset();
  used_.clear();
  warnings_.Add("damaged", fmt::format("the cache {} is damaged{}: {}", file().string(),
                                       read_only_ ? "" : " and starts anew", damage.message()));
  if (read_only_ || has_healed_) return;
  has_healed_ = true;
  if (!MoveAside(options_, identity_).ok()) return;
  Result<Database> fresh = OpenStoreFile(options_, warnings_);
  if (!fresh.ok()) return;
  database_ = std::move(fresh).value();
  identity_ = IdentityOf(file());
  read_only_ = database_->read_only();
  if (!PrepareStatements().ok()) {
    find_.reset();
    database_.reset();
  }
}

}  // namespace hearth
