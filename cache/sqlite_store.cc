#include "cache/sqlite_store.h"

#include <fmt/chrono.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <limits>
#include <utility>

#include "cache/entry_row.h"
#include "core/base/text.h"

namespace hearth {
namespace {

// Deletes an entry and its blob in one transaction, because either without the other would be damage.
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
  Status status = store->PrepareStatements();
  if (status.code() == StatusCode::kMalformedInput && store->ReadAgain(status)) status = Status::Ok();
  if (!status.ok()) {
    store->OnTrouble("opening", status);
    if (!store->find_) return status;
  }
  store->NoteWhatIsRevoked();
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
      file_(database_->file()),
      identity_(IdentityOfOpened(*database_)),
      marker_(options_.folder),
      claims_(options_.folder, waits_.makers),
      read_only_(database_->read_only()) {
  if (read_only_ && !options_.read_only) {
    const std::string why = ::access(file().c_str(), W_OK) != 0 ? ""
                            : Database::IsForkedFromAUser()     ? "; this process was forked from one that has it open"
                            : !HasLocks(options_.folder)        ? "; its file system has no locks"
                                                                : "; " + FullDiskText(options_.folder);
    warnings_.Add("read-only", fmt::format("{} can't be written: its entries are used, but nothing new is stored{}",
                                           file().string(), why));
  }
}

SqliteStore::~SqliteStore() {
  if (IsForked()) {
    if (find_) find_->Abandon();
    if (database_) database_->Abandon();
    return;
  }
  Flush();
  LeavePending();
  Close();
}

void SqliteStore::Close() {
  find_.reset();
  CloseStoreFile(database_, options_.folder, waits_.others);
}

Status SqliteStore::PrepareStatements() {
  HEARTH_ASSIGN(find_, database_->Prepare("SELECT id, kind, material, size_bytes, checksum, cost_ms, last_used_ms, "
                                          "origin FROM entries WHERE digest=?"));
  HEARTH_ASSIGN(on_probation_, ReadQuarantine(*database_));
  HEARTH_ASSIGN(const int64_t others, database_->Number("SELECT count(*) FROM counters WHERE name='others'"));
  has_others_ = others != 0;
  names_.Open(*database_);
  return Status::Ok();
}

// Called once: a file that is opened later in this session does not tell when the session began to trust.
void SqliteStore::NoteWhatIsRevoked() {
  if (database_) {
    auto known = ReadRevocations(*database_);
    if (known.ok() && known->lineage == 0 && Writable() && EnsureLineage(*database_).ok())
      known = ReadRevocations(*database_);
    if (known.ok()) revocations_ = *std::move(known);
  }
  if (!options_.revocations) return;
  revocations_.of_keys = options_.revocations->of_keys;
  // Without a lineage there was no store yet, or an older Hearth's.
  if (options_.revocations->lineage != 0) revocations_.lineage = options_.revocations->lineage;
}

void SqliteStore::QuarantineDeadUses() {
  const std::vector<DeadMarker> dead = FindDeadMarkers(options_.folder);
  if (dead.empty()) return;
  size_t count = 0;
  for (const DeadMarker& marker : dead) {
    count += marker.in_use.size();
    hidden_.insert(marker.in_use.begin(), marker.in_use.end());
    for (const Fingerprint& digest : marker.in_use) on_probation_[digest];
  }
  warnings_.Add("quarantine", fmt::format("an earlier run died while it loaded {} cached item{}: rebuilding {}", count,
                                          count == 1 ? "" : "s", count == 1 ? "it" : "them"));
  if (!Writable()) return;
  if (const Status status = RecordStrikes(*database_, dead); !status.ok()) {
    OnTrouble("quarantining", status);
    return;
  }
  hidden_.clear();
  if (auto records = ReadQuarantine(*database_); records.ok()) on_probation_ = *std::move(records);
}

bool SqliteStore::Get(const CacheKey& key, const Destination& destination) {
  if (IsForked()) return false;
  const Fingerprint digest = key.digest();
  Found found;
  {
    const std::scoped_lock lock(mutex_);
    if (FindPending(key, digest, destination)) return true;
    Result<Lookup> lookup = Find(key, digest, destination, found);
    if (Status damage = lookup.status(); damage.code() == StatusCode::kMalformedInput) {
      lookup = ReadAgain(damage) ? Find(key, digest, destination, found) : damage;
    }
    if (!lookup.ok()) OnTrouble("reading", lookup.status());
    if (!lookup.ok() || *lookup == Lookup::kMiss) {
      ++counters_.misses;
      misses_.Miss(digest, hidden_.contains(digest) ? "in quarantine: an earlier run died while it used it" : "");
      TellIfBarred(key, digest);
      return false;
    }
    if (*lookup == Lookup::kReject) {
      RejectDamaged(key, digest, "size", "has a wrong size");
      return false;
    }
  }
  // Computed without the lock, so that other threads can read meanwhile.
  const bool is_intact = FingerprintOf(found.bytes) == found.checksum;
  const std::scoped_lock lock(mutex_);
  if (!is_intact) {
    RejectDamaged(key, digest, "checksum", "was damaged");
    return false;
  }
  ++counters_.hits;
  counters_.bytes_read += found.bytes.size();
  counters_.milliseconds_saved += found.cost_ms;
  return true;
}

void SqliteStore::TellIfBarred(const CacheKey& key, const Fingerprint& digest) {
  const auto record = on_probation_.find(digest);
  if (record == on_probation_.end() || record->second.strikes < kMaxStrikes) return;
  const std::string_view kind = BlobKindName(key.kind());
  warnings_.Add(
      fmt::format("barred {}", kind),
      fmt::format("{} runs died while they loaded the same cached {}, so it is made again at each start until "
                  "{:%Y-%m-%d}; `hearth cache clear --quarantine` lifts that",
                  record->second.strikes, kind, fmt::gmtime(std::time_t{record->second.until_ms / 1000})));
}

// Called once for each entry, which is deleted, or at least not looked at again.
void SqliteStore::RejectDamaged(const CacheKey& key, const Fingerprint& digest, std::string_view trouble,
                                std::string_view what) {
  has_met_damage_ = true;
  ++counters_.rejected;
  misses_.Miss(digest, fmt::format("rejected: it {}", what));
  warnings_.Add(trouble, fmt::format("a cached {} {} and is rebuilt", BlobKindName(key.kind()), what));
  HideAndDelete(digest);
}

void SqliteStore::HideAndDelete(const Fingerprint& digest) {
  hidden_.insert(digest);
  FollowTheName();
  if (!Writable()) return;
  if (WriteInNamedFile([&] { return DeleteWhole(*database_, digest); }).ok()) hidden_.erase(digest);
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
  // Until the scope ends, the statement keeps a read transaction open, so that entry and blob belong together.
  const StatementScope scope(*find_);
  HEARTH_ASSIGN(const bool row, find_->Bind(0, digest.bytes).Step());
  if (!row || find_->Text(1) != BlobKindName(key.kind()) ||
      !std::ranges::equal(find_->Blob(2), BytesOf(key.material()))) {
    return Lookup::kMiss;
  }
  HEARTH_ASSIGN(BlobReader blob, database_->OpenBlob("blobs", "bytes", find_->Number(0)));
  // Checked before the destination is called: a damaged size must not cause a huge allocation.
  if (find_->Number(3) < 0 || static_cast<uint64_t>(find_->Number(3)) != blob.size_bytes()) return Lookup::kReject;
  if (!find_->MayRead(blob.size_bytes())) return Lookup::kReject;
  const std::span<std::byte> bytes = destination(blob.size_bytes());
  if (bytes.size() != blob.size_bytes()) return Lookup::kReject;
  HEARTH_TRY(blob.Read(bytes));
  found = {bytes, FingerprintFrom(find_->Blob(4)), BoundedCostMs(find_->Real(5))};
  const int64_t used_ms = find_->Number(6), now_ms = NowMs();  // the store may hold any number: not subtracted
  origins_.Note(digest, found.checksum, find_->Text(7));
  used_[digest] |= used_ms > now_ms || used_ms <= now_ms - options_.stamp_age_ms;
  return Lookup::kHit;
}

void SqliteStore::Reject(const CacheKey& key, std::string_view reason) {
  if (IsForked()) return;
  const Fingerprint digest = key.digest();
  const std::scoped_lock lock(mutex_);
  ++counters_.rejected;
  misses_.Miss(digest, fmt::format("rejected: {}", reason));
  warnings_.Add("reject",
                fmt::format("a cached {} could not be used and is rebuilt: {}", BlobKindName(key.kind()), reason));
  HideAndDelete(digest);
}

void SqliteStore::BeginUse(const CacheKey& key) {
  if (IsForked()) return;
  const std::scoped_lock lock(mutex_);
  if (!read_only_) marker_.Begin(key.digest());
}

void SqliteStore::EndUse(const CacheKey& key) {
  if (IsForked()) return;
  const Fingerprint digest = key.digest();
  const std::scoped_lock lock(mutex_);
  marker_.End(digest);
  if (on_probation_.contains(digest)) acquitted_.insert(digest);
}

MakingTurn SqliteStore::TakeMakingTurn(const CacheKey& key) {
  if (IsForked()) return {};
  {
    const std::scoped_lock lock(mutex_);
    if (!Writable()) return {};  // nobody would find the result
  }
  const Fingerprint digest = key.digest();
  MakingTurn turn = claims_.Take(digest, [&] { return KnownCostMs(key.kind()); });
  if (turn.has_waited) return turn;
  // The maker may have finished between the look-up and the claim.
  const std::scoped_lock lock(mutex_);
  if (!find_) return turn;
  const StatementScope scope(*find_);
  const Result<bool> row = find_->Bind(0, digest.bytes).Step();
  turn.has_waited = row.ok() && *row;
  return turn;
}

// The highest cost of an entry of this kind among those used lately, for programs with that of their portable parts.
double SqliteStore::KnownCostMs(BlobKind kind) {
  const std::scoped_lock lock(mutex_);
  constexpr double kUnknown = std::numeric_limits<double>::infinity();
  if (!database_) return kUnknown;
  Result<Statement> latest = database_->Prepare(
      "SELECT sum(cost) FROM (SELECT max(cost_ms) AS cost FROM (SELECT kind, cost_ms FROM entries"
      " ORDER BY last_used_ms DESC LIMIT 256) WHERE kind IN (?, ?) GROUP BY kind)");
  if (!latest.ok()) return kUnknown;
  const BlobKind other = kind == BlobKind::kProgram ? BlobKind::kSource : kind;
  const Result<bool> row = latest->Bind(0, BlobKindName(kind)).Bind(1, BlobKindName(other)).Step();
  const double cost_ms = row.ok() && *row ? latest->Real(0) : 0;
  return cost_ms > 0 ? cost_ms : kUnknown;
}

void SqliteStore::ReleaseWhenStored(std::unique_ptr<MakingClaim> claim) {
  if (IsForked()) return;
  const std::scoped_lock lock(mutex_);
  if (claim != nullptr && !pending_.empty()) held_claims_.push_back(std::move(claim));
}

bool SqliteStore::IsSuspect(const CacheKey& key) const {
  if (IsForked()) return false;
  const std::scoped_lock lock(mutex_);
  return on_probation_.contains(key.digest());
}

StoreCounters SqliteStore::counters() const {
  if (IsForked()) return {};
  const std::scoped_lock lock(mutex_);
  return counters_;
}

BarredPuts SqliteStore::barred_puts() const {
  if (IsForked()) return {};
  const std::scoped_lock lock(mutex_);
  return barred_puts_;
}

size_t SqliteStore::pending_puts() const {
  if (IsForked()) return 0;
  const std::scoped_lock lock(mutex_);
  return pending_.size();
}

std::vector<std::string> SqliteStore::TakeWarnings() {
  if (IsForked()) {
    if (has_told_child_.exchange(true)) return {};
    return {"this process was forked from the one that opened the cache: it goes on without the cache"};
  }
  const std::scoped_lock lock(mutex_);
  return warnings_.Take();
}

void SqliteStore::OnTrouble(std::string_view what, const Status& status) {
  if (status.code() == StatusCode::kMalformedInput) {
    Heal(status);
    return;
  }
  warnings_.Add(fmt::format("{} {}", what, StatusCodeName(status.code())),
                fmt::format("{} the cache {} failed: {}", what, file().string(), status.message()));
}

// Opens the file again after damage, because a disk that fails once looks the same. Returns false the second time, and
// if the file can't be opened any more; `damage` then has the reason.
bool SqliteStore::ReadAgain(Status& damage) {
  if (std::exchange(has_read_again_, true)) return false;
  Close();
  Result<Database> again = OpenStoreFileAsItIs(options_, waits_.others);
  if (!again.ok()) {
    damage = again.status();
    return false;
  }
  TakeOver(std::move(again).value());
  return database_.has_value();
}

void SqliteStore::Heal(const Status& damage) {
  Close();
  used_.clear();
  warnings_.Add("damaged", fmt::format("the cache {} is damaged{}: {}", file().string(),
                                       read_only_ ? "" : " and starts empty", damage.message()));
  if (read_only_ || has_healed_) return;
  has_healed_ = true;
  if (!MoveAside(options_, file_, waits_.others, identity_).ok()) return;
  Reopen();
}

// The cache may have been cleared or rewritten; other sessions should find what this session stores.
void SqliteStore::FollowTheName() {
  if (!Writable() || !database_->has_moved()) return;
  Close();
  Reopen();
}

Status SqliteStore::WriteInNamedFile(const std::function<Status()>& write) {
  Status status = write();
  if (status.code() != StatusCode::kUnavailable || !database_->has_moved()) return status;
  FollowTheName();
  return Writable() ? write() : status;
}

void SqliteStore::Reopen() {
  Result<Database> fresh = OpenStoreFile(options_, waits_.others, warnings_);
  if (fresh.ok()) {
    TakeOver(std::move(fresh).value());
  } else {
    warnings_.Add("gone", fmt::format("the cache {} was replaced during this run, and nothing new is stored: {}",
                                      file().string(), fresh.status().message()));
  }
}

void SqliteStore::TakeOver(Database database) {
  database_ = std::move(database);
  file_ = database_->file();
  identity_ = IdentityOfOpened(*database_);
  read_only_ = database_->read_only();
  if (PrepareStatements().ok()) return;
  Close();
}

}  // namespace hearth
