#include "cache/store/sqlite_store.h"

#include <fmt/format.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <set>
#include <utility>

#include "cache/files/locked_file.h"
#include "cache/files/store_names.h"
#include "cache/store/budget.h"
#include "cache/store/entry_row.h"
#include "cache/store/store_connection.h"
#include "core/base/text.h"

namespace hearth {
namespace {

// A session does not wait for the removal of a dead prune's copy of a store.
constexpr int64_t kMostBytesAtStart = int64_t{64} << 20;

// Deletes an entry and its blob in one transaction, because either without the other would be damage.
Status DeleteWhole(Database& database, const Fingerprint& digest) {
  HEARTH_ASSIGN(Transaction transaction, Transaction::Begin(database));
  HEARTH_TRY(DeleteEntry(database, digest));
  return transaction.Commit();
}

// Returns to the file system the pages that eviction freed and the new entries do not need. Pages that were free
// before are left to a running prune.
Status ReturnFreedPages(Database& database, int64_t free_before) {
  HEARTH_ASSIGN(const int64_t free_pages, database.Number("PRAGMA freelist_count"));
  if (free_pages <= free_before) return Status::Ok();
  return database.Run(fmt::format("PRAGMA incremental_vacuum({})", free_pages - free_before));
}

struct Visited {
  CacheKey key;
  std::vector<std::byte> bytes;
  FoundEntry entry;  // without the bytes
};

// Entries whose material begins with that of `common`. Damaged ones are skipped; verify finds them.
Status ReadAll(Database& database, const CacheKey& common, std::vector<Visited>& visited) {
  visited.clear();
  // The kind is written into the SQL text, because sqlite uses a partial index only for a constant condition.
  HEARTH_ASSIGN(Statement rows,
                database.Prepare(fmt::format(
                    "SELECT e.material, e.checksum, b.bytes, e.origin, e.cost_ms FROM entries e JOIN blobs b ON"
                    " b.id=e.id WHERE e.kind='{}' AND e.material>=? AND substr(e.material, 1, ?)=?",
                    BlobKindName(common.kind()))));
  const std::span<const std::byte> beginning = BytesOf(common.material());
  rows.Bind(0, beginning).Bind(1, static_cast<int64_t>(beginning.size())).Bind(2, beginning);
  return rows.ForEachRow([&] {
    std::optional<CacheKey> key = KeyFromMaterial(common.kind(), TextFrom(rows.Blob(0)));
    const std::span<const std::byte> bytes = rows.Blob(2);
    const Fingerprint checksum = FingerprintOf(bytes);
    if (!key || checksum != FingerprintFrom(rows.Blob(1))) return;
    visited.push_back({*std::move(key),
                       {bytes.begin(), bytes.end()},
                       {{}, checksum, BoundedCostMs(rows.Real(4)), std::string(rows.Text(3))}});
  });
}

// The connection waits for others as `patience` allows, if that is more than the session may wait.
class PatientScope {
 public:
  PatientScope(StoreConnection& connection, WaitBudget& patience) : connection_(connection) {
    const bool is_more = patience.left_ms() > connection.waits().others.left_ms();
    if (is_more && connection.database() != nullptr) connection.database()->SetWaits(&patience);
  }
  ~PatientScope() {
    if (connection_.database() != nullptr) connection_.database()->SetWaits(&connection_.waits().others);
  }
  PatientScope(const PatientScope&) = delete;
  PatientScope& operator=(const PatientScope&) = delete;

 private:
  StoreConnection& connection_;
};

}  // namespace

Result<std::unique_ptr<SqliteStore>> SqliteStore::Open(StoreOptions options) {
  HEARTH_ASSIGN(std::unique_ptr<StoreConnection> connection, StoreConnection::Open(std::move(options)));
  std::unique_ptr<SqliteStore> store(new SqliteStore(std::move(connection)));
  HEARTH_TRY(store->connection_->Attach([own = store.get()](Database* database) { return own->OnFile(database); }));
  store->NoteWhatIsRevoked();
  store->marks_.TakeDeadUses();
  if (store->connection_->is_writable()) RemoveUnfinished(store->connection_->options().folder, kMostBytesAtStart);
  return store;
}

SqliteStore::SqliteStore(std::unique_ptr<StoreConnection> connection)
    : connection_(std::move(connection)),
      marks_(*connection_),
      names_(*connection_),
      records_(*connection_, marks_, names_),
      claims_(*connection_) {}

SqliteStore::~SqliteStore() {
  if (connection_->IsForked() && find_) find_->Abandon();
}

std::filesystem::path SqliteStore::file() const {
  const std::scoped_lock lock(connection_->mutex());
  return connection_->file();
}

Status SqliteStore::OnFile(Database* database) {
  find_.reset();
  if (database == nullptr) return Status::Ok();
  HEARTH_ASSIGN(find_, database->Prepare("SELECT id, kind, material, size_bytes, checksum, cost_ms, last_used_ms, "
                                         "origin FROM entries WHERE digest=?"));
  for (const Status& status : {marks_.Load(*database), names_.Load(*database)}) {
    if (status.code() == StatusCode::kMalformedInput) return status;
  }
  return Status::Ok();
}

// Called once: a file that is opened later in this session does not tell when the session began to trust.
void SqliteStore::NoteWhatIsRevoked() {
  const std::scoped_lock lock(connection_->mutex());
  if (connection_->database() != nullptr) {
    if (auto known = ReadRevocations(*connection_->database()); known.ok()) revocations_ = *std::move(known);
  }
  const std::optional<KnownRevocations>& given = connection_->options().revocations;
  if (!given) return;
  revocations_.of_keys = given->of_keys;
  if (given->lineage != 0) revocations_.lineage = given->lineage;  // else there was no store yet
}

EntrySource::Answer SqliteStore::Get(const CacheKey& key, const Destination& destination, FoundEntry& found) {
  if (connection_->IsForked()) return Answer::kMiss;
  const Fingerprint digest = key.digest();
  Answer answer = Answer::kMiss;
  {
    const std::scoped_lock lock(connection_->mutex());
    const Status status = connection_->Read("reading", [&](Database&) -> Status {
      HEARTH_ASSIGN(answer, Find(key, destination, found));
      return Status::Ok();
    });
    if (!status.ok()) answer = Answer::kMiss;
    if (answer == Answer::kMiss) marks_.WarnIfBarred(key, digest);
  }
  if (answer == Answer::kMiss) return answer;
  // Computed without the lock, so that other threads can read meanwhile.
  if (answer == Answer::kHit && FingerprintOf(found.bytes) == found.checksum) return answer;
  found.trouble = answer == Answer::kHit ? "was damaged" : "has a wrong size";
  {
    const std::scoped_lock lock(connection_->mutex());
    records_.NoteDamage();
  }
  Remove(key);
  return Answer::kDamaged;
}

Result<EntrySource::Answer> SqliteStore::Find(const CacheKey& key, const Destination& destination, FoundEntry& found) {
  if (!find_) return Answer::kMiss;
  // Until the scope ends, the statement keeps a read transaction open, so that entry and blob belong together.
  const StatementScope scope(*find_);
  HEARTH_ASSIGN(const bool is_there, FindRow(key));
  if (!is_there) return Answer::kMiss;
  HEARTH_ASSIGN(BlobReader blob, connection_->database()->OpenBlob("blobs", "bytes", find_->Number(0)));
  // Checked before the destination is called: a damaged size must not cause a huge allocation.
  if (find_->Number(3) < 0 || static_cast<uint64_t>(find_->Number(3)) != blob.size_bytes()) return Answer::kDamaged;
  if (!find_->MayRead(blob.size_bytes())) return Answer::kDamaged;
  const std::span<std::byte> bytes = destination(blob.size_bytes());
  if (bytes.size() != blob.size_bytes()) return Answer::kDamaged;
  HEARTH_TRY(blob.Read(bytes));
  found = {bytes, FingerprintFrom(find_->Blob(4)), BoundedCostMs(find_->Real(5)), std::string(find_->Text(7))};
  records_.Use(key.digest(), find_->Number(6));
  return Answer::kHit;
}

Result<bool> SqliteStore::FindRow(const CacheKey& key) {
  const Fingerprint digest = key.digest();
  HEARTH_ASSIGN(const bool row, find_->Bind(0, digest.bytes).Step());
  return row && find_->Text(1) == BlobKindName(key.kind()) &&
         std::ranges::equal(find_->Blob(2), BytesOf(key.material()));
}

bool SqliteStore::Has(const CacheKey& key) {
  if (connection_->IsForked()) return false;
  const std::scoped_lock lock(connection_->mutex());
  if (!find_) return false;
  const StatementScope scope(*find_);
  const Result<bool> is_there = FindRow(key);
  return is_there.ok() && *is_there;
}

void SqliteStore::ForEach(const CacheKey& common, const Visitor& visit) {
  if (connection_->IsForked()) return;
  std::vector<Visited> visited;
  {
    const std::scoped_lock lock(connection_->mutex());
    static_cast<void>(
        connection_->Read("reading", [&](Database& database) { return ReadAll(database, common, visited); }));
    for (const Visited& one : visited) records_.UseWithoutStamp(one.key.digest());
  }
  for (Visited& one : visited) {
    one.entry.bytes = one.bytes;
    visit(one.key, one.entry);
  }
}

void SqliteStore::Remove(const CacheKey& key) {
  if (connection_->IsForked()) return;
  const std::scoped_lock lock(connection_->mutex());
  static_cast<void>(connection_->WriteOnce([&](Database& database) { return DeleteWhole(database, key.digest()); }));
}

std::vector<std::string> SqliteStore::TakeWarnings() {
  if (connection_->IsForked()) return {};
  const std::scoped_lock lock(connection_->mutex());
  return connection_->warnings().Take();
}

bool SqliteStore::Put(std::span<const NewEntry> entries, std::span<PutResult> results, double patience_ms) {
  std::ranges::fill(results, PutResult::kFailed);
  if (connection_->IsForked()) return true;
  const std::scoped_lock lock(connection_->mutex());
  WaitBudget patience(static_cast<int>(patience_ms));
  const PatientScope scope(*connection_, patience);
  Status status = connection_->Write([&](Database& database) { return StoreAll(database, entries, results); });
  if (status.code() == StatusCode::kResourceExhausted && connection_->is_writable()) {
    connection_->NoteTrouble("writing", status);
    status = StoreWhatFits(entries, results);
  }
  if (status.ok()) connection_->KeepLogInBudget(0);
  const bool is_known = status.ok() || status.code() == StatusCode::kNotFound;  // told when the store was opened
  if (!is_known) connection_->NoteTrouble("writing", status);
  return status.code() != StatusCode::kUnavailable;
}

Status SqliteStore::StoreAll(Database& database, std::span<const NewEntry> wanted, std::span<PutResult> results) {
  std::ranges::fill(results, PutResult::kFailed);
  std::vector<NewEntry> entries;
  std::vector<size_t> places;
  uint64_t new_bytes = 0;
  for (size_t k = 0; k < wanted.size(); ++k) {
    const uint64_t size_bytes = std::max(wanted[k].bytes.size(), wanted[k].key->material().size());
    if (size_bytes > database.max_value_bytes()) {
      connection_->warnings().Add(
          "too large",
          fmt::format("an entry of {} bytes ({}) exceeds the limit for one ({}): it is made again at each start",
                      size_bytes, BlobKindName(wanted[k].key->kind()), database.max_value_bytes()));
      continue;
    }
    entries.push_back(wanted[k]);
    places.push_back(k);
    new_bytes += wanted[k].bytes.size();
  }
  connection_->KeepLogInBudget(new_bytes);
  const StoreOptions& options = connection_->options();
  const Admission admission = {options.max_bytes, DamagedFile(options.folder),
                               [this](const Fingerprint& digest) { return records_.IsInUse(digest); }, revocations_};
  PutOutcome outcome;
  HEARTH_ASSIGN(Transaction transaction, Transaction::Begin(database));
  HEARTH_ASSIGN(const int64_t free_before, database.Number("PRAGMA freelist_count"));
  HEARTH_TRY(PutEntries(database, entries, admission, outcome));
  for (size_t k = 0; k < entries.size(); ++k) {
    if (outcome.results[k] == PutResult::kStored && !entries[k].origin.empty()) names_.NoteOthers();
  }
  HEARTH_TRY(names_.Store(database));
  HEARTH_TRY(ReturnFreedPages(database, free_before));
  HEARTH_TRY(transaction.Commit());
  names_.OnStored();
  records_.NotePut();
  for (size_t k = 0; k < entries.size(); ++k) {
    results[places[k]] = outcome.results[k];
    if (const auto need = NeedOf(entries[k])) records_.Need(*need);
  }
  for (const Fingerprint& digest : outcome.present) {
    records_.UseWithoutStamp(digest);
    marks_.Unhide(digest);
  }
  if (outcome.has_lacked_room) connection_->NoteTrouble("writing", NoRoom());
  WarnOfRevoked(outcome);
  return Status::Ok();
}

void SqliteStore::WarnOfRevoked(const PutOutcome& outcome) {
  if (std::ranges::count(outcome.results, PutResult::kRevoked) == 0) return;
  connection_->warnings().Add(
      "revoked", outcome.knows_revocations
                     ? "a key was revoked during this run: entries that it signed are not stored"
                     : "the cache was damaged or removed during this run, and with it the list of revoked keys: "
                       "signed entries are not stored now; the next start may store them");
}

Status SqliteStore::NoRoom() {
  const uint64_t max_bytes = connection_->options().max_bytes;
  LeastSize least;
  if (const Result<LeastSize> read = LeastSizeOf(*connection_->database()); read.ok()) least = *read;
  std::string why = WhyTooSmall(least, max_bytes);
  if (why.empty()) {
    why = records_.uses_nothing() ? "it is smaller than they are" : "this run uses or has stored the rest";
    if (least.pinned_bytes > 0) why += fmt::format(", and pinned models have {} bytes", least.pinned_bytes);
    why += ": raise its limit (HEARTH_CACHE_MAX_SIZE or --cache-max-bytes)";
  }
  return Error(StatusCode::kResourceExhausted, "the cache's {} bytes have no room for the new entries: {}", max_bytes,
               why);
}

// The disk was too small for all entries at once, each of which takes room in the log and then in the file. So those
// most worth come one by one, and the log is emptied before each: it keeps the size that the failed ones gave it.
Status SqliteStore::StoreWhatFits(std::span<const NewEntry> entries, std::span<PutResult> results) {
  std::set<Fingerprint> wanted;
  for (const NewEntry& entry : entries) wanted.insert(entry.digest);
  for (const size_t k : MostWorthFirst(entries)) {
    EmptyLog(*connection_->database(), 0, &connection_->waits().others);
    // A program without its source would be rejected at each start.
    const std::optional<Fingerprint> need = NeedOf(entries[k]);
    const bool lacks_need = need && wanted.contains(*need) && !records_.IsUsed(*need);
    if (lacks_need || !HasRoomOnDisk(entries[k])) continue;
    const Status status = StoreAll(*connection_->database(), entries.subspan(k, 1), results.subspan(k, 1));
    if (status.code() == StatusCode::kMalformedInput) return status;
  }
  EmptyLog(*connection_->database(), 0, &connection_->waits().others);
  return Status::Ok();
}

// In the log, with the pages that change, and then in the file: a log that can't be copied into the file stays.
bool SqliteStore::HasRoomOnDisk(const NewEntry& entry) {
  constexpr uint64_t kChangedPages = 8;
  struct statvfs disk = {};
  const Result<int64_t> page_number = connection_->database()->Number("PRAGMA page_size");
  if (::statvfs(connection_->file().c_str(), &disk) != 0 || !page_number.ok()) return true;
  const auto page_bytes = static_cast<uint64_t>(*page_number);
  const uint64_t entry_bytes = EntryBytes(entry.bytes.size(), entry.key->material().size(), page_bytes);
  return uint64_t{disk.f_bavail} * disk.f_frsize >= 2 * entry_bytes + kChangedPages * page_bytes;
}

}  // namespace hearth
