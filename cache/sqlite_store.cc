#include "cache/sqlite_store.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "cache/entry_row.h"
#include "cache/quarantine.h"

namespace hearth {
namespace {

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
  auto own_waits = std::make_unique<SessionWaits>();
  WaitBudget& waits = (options.waits != nullptr ? options.waits : own_waits.get())->others;
  HEARTH_ASSIGN(Database database, OpenStoreFile(options, waits, warnings));
  std::unique_ptr<SqliteStore> store(
      new SqliteStore(std::move(options), std::move(own_waits), std::move(database), std::move(warnings)));
  if (const Status status = store->PrepareStatements(); !status.ok()) {
    store->OnTrouble("opening", status);
    if (!store->find_) return status;
  }
  store->QuarantineDeadUses();
  store->StoreLeftovers();
  return store;
}

SqliteStore::SqliteStore(StoreOptions options, std::unique_ptr<SessionWaits> own_waits, Database database,
                         Warnings warnings)
    : own_waits_(std::move(own_waits)),
      waits_(options.waits != nullptr ? *options.waits : *own_waits_),
      options_(std::move(options)),
      warnings_(std::move(warnings)),
      database_(std::move(database)),
      identity_(IdentityOf(file())),
      marker_(options_.folder),
      claims_(options_.folder, waits_.makers),
      read_only_(database_->read_only()) {
  if (read_only_ && !options_.read_only) {
    const bool can_be_written = ::access(file().c_str(), W_OK) == 0;
    warnings_.Add("read-only", fmt::format("{} can't be written{}: what it holds is used, nothing new is stored",
                                           file().string(), can_be_written ? ", the disk is full" : ""));
  }
}

SqliteStore::~SqliteStore() {
  Flush();
  LeavePending();
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
    if (FindPending(key, digest, destination)) return true;
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

bool SqliteStore::FindPending(const CacheKey& key, const Fingerprint& digest, const Destination& destination) {
  const auto pending = pending_.find(digest);
  if (pending == pending_.end() || pending->second.key.material() != key.material()) return false;
  const std::span<std::byte> bytes = destination(pending->second.bytes.size());
  if (bytes.size() != pending->second.bytes.size()) return false;
  std::ranges::copy(pending->second.bytes, bytes.begin());
  ++counters_.hits;
  counters_.bytes_read += bytes.size();
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
  MakingTurn turn = claims_.Take(digest, [&] { return KnownCostMs(key.kind()); });
  if (turn.has_waited) return turn;
  // Its maker may have finished between the look-up and the claim.
  const std::scoped_lock lock(mutex_);
  if (!find_) return turn;
  const StatementScope scope(*find_);
  const Result<bool> row = find_->Bind(0, digest.bytes).Step();
  turn.has_waited = row.ok() && *row;
  return turn;
}

// What making an entry of this kind took at most, of those that were used lately.
double SqliteStore::KnownCostMs(BlobKind kind) {
  const std::scoped_lock lock(mutex_);
  constexpr double kUnknown = std::numeric_limits<double>::infinity();
  if (!database_) return kUnknown;
  Result<Statement> latest = database_->Prepare(
      "SELECT max(cost_ms) FROM (SELECT kind, cost_ms FROM entries ORDER BY last_used_ms DESC"
      " LIMIT 256) WHERE kind=?");
  if (!latest.ok()) return kUnknown;
  const Result<bool> row = latest->Bind(0, BlobKindName(kind)).Step();
  const double cost_ms = row.ok() && *row ? latest->Real(0) : 0;
  return cost_ms > 0 ? cost_ms : kUnknown;
}

void SqliteStore::ReleaseWhenStored(std::unique_ptr<MakingClaim> claim) {
  const std::scoped_lock lock(mutex_);
  if (claim != nullptr && !pending_.empty()) held_claims_.push_back(std::move(claim));
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
  if (!MoveAside(options_, waits_.others, identity_).ok()) return;
  Reopen();
}

// Somebody may have cleared the cache: what this session stores is to be found by others.
void SqliteStore::FollowTheName() {
  if (!Writable() || IdentityOf(file()) == identity_) return;
  find_.reset();
  database_.reset();
  used_.clear();
  Reopen();
}

void SqliteStore::Reopen() {
  Result<Database> fresh = OpenStoreFile(options_, waits_.others, warnings_);
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
