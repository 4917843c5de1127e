// The cache on disk: one sqlite file that all processes of a user share.
#ifndef HEARTH_CACHE_SQLITE_STORE_H_
#define HEARTH_CACHE_SQLITE_STORE_H_

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string_view>

#include "cache/content_names.h"
#include "cache/entry_origin.h"
#include "cache/in_use_marker.h"
#include "cache/last_misses.h"
#include "cache/making_claim.h"
#include "cache/quarantine.h"
#include "cache/revocations.h"
#include "cache/store_file.h"
#include "core/base/blob_store.h"
#include "core/base/file_stamp.h"

namespace hearth {

// Puts that were refused because the same bytes are in quarantine (quarantine.h).
struct BarredPuts {
  uint64_t entries = 0, bytes = 0;
  int64_t until_ms = 0;  // the latest end of a quarantine
};

// In a forked child a copy of the store only misses and gives a warning: connection and side files belong to the
// parent.
//
// Thread-safe: calls wait for each other while they are in the database. Get calls its destination during that time; it
// must not call the store.
class SqliteStore final : public BlobStore, public KnowsOrigins {
 public:
  // Finds or makes the store in `options.folder` under the rules of folder.h, repairs it, and quarantines entries that
  // a dead process was using. After an error there is no cache: the caller warns and goes on without.
  static Result<std::unique_ptr<SqliteStore>> Open(StoreOptions options);
  ~SqliteStore() override;  // Flush

  using BlobStore::Get;
  bool Get(const CacheKey& key, const Destination& destination) override;
  void ForEach(const CacheKey& common, const Visitor& visit) override;
  // For a look-up, unknown content gets a short name, because entries of it can't exist and no SHA-256 is needed. If
  // the store has entries from elsewhere, it gets its full name.
  std::string NameOfContent(std::span<const std::byte> bytes, NameUse use) override;
  // If another process writes for longer than the session may wait, entries stay in memory until the next put or the
  // end.
  // Bytes that this session read keep their origin when they are put without one.
  void Put(std::span<const PutRequest> requests) override;
  std::optional<std::string> OriginOf(const CacheKey& key, std::span<const std::byte> bytes) override;
  void BeginBatch() override;
  void EndBatch() override;
  void Reject(const CacheKey& key, std::string_view reason) override;
  void BeginUse(const CacheKey& key) override;
  void EndUse(const CacheKey& key) override;
  MakingTurn TakeMakingTurn(const CacheKey& key) override;
  void ReleaseWhenStored(std::unique_ptr<MakingClaim> claim) override;
  bool IsSuspect(const CacheKey& key) const override;
  StoreCounters counters() const override;  // of this session
  std::vector<std::string> TakeWarnings() override;

  void Flush() override;  // also called by the destructor

  // The fingerprint and the name of a file's content, found by its stamp without reading the file.
  struct KnownFile {
    std::string fingerprint, name;
  };
  std::optional<KnownFile> RecallFile(const FileStamp& stamp);
  // The fingerprint remembered with this name, so that only the name has to be computed.
  std::optional<std::string> RecallFingerprint(const std::string& name);
  // Remembers the full name, which NameOfContent returns for a put. A file that changed recently is not remembered.
  void RememberFile(const std::optional<FileStamp>& stamp, const KnownFile& known);
  // The latest time that the store has seen (latest_time.h). SeeTime is written at the session's end.
  int64_t LatestTimeMs();
  void SeeTime(int64_t time_ms);
  BarredPuts barred_puts() const;
  size_t pending_puts() const;  // that wait for another process
  // From before this session began to trust keys.
  const KnownRevocations& revocations() const { return revocations_; }
  // Sets the session's model if it was not known when the store was opened.
  void SetModel(const ModelName& model);

  // The store's path. If the cache was cleared meanwhile, puts go into the new file of that name.
  std::filesystem::path file() const { return file_; }

 private:
  enum class Lookup { kHit, kMiss, kReject };
  // An entry to be stored. The bytes belong to the caller or to `pending_`.
  struct NewEntry {
    const CacheKey* key = nullptr;
    std::span<const std::byte> bytes;
    double cost_ms = 0;
    std::string_view origin;
    Fingerprint digest, checksum;
    std::optional<Fingerprint> source = {};  // without which it is of no use; set where the entry is stored
  };
  // Why an entry is not stored.
  struct Refusal {
    enum class Why { kNoRoom, kBarred, kRevoked } why;
    int64_t until_ms = 0;  // of the quarantine
  };
  // What one transaction does with the entries.
  struct PutOutcome {
    std::vector<const NewEntry*> stored;
    std::set<Fingerprint> present;  // that were stored, or there already
    std::map<Fingerprint, Refusal> refused;
    size_t without_room = 0, revoked = 0;
    BarredPuts barred;
    std::set<Fingerprint> evicted_sources;
  };
  // An entry that was put and is not stored yet.
  struct PendingEntry {
    CacheKey key;
    std::vector<std::byte> bytes;
    double cost_ms = 0;
    std::string origin;
    Fingerprint checksum;
  };
  // The result of a look-up, not verified yet.
  struct Found {
    std::span<const std::byte> bytes;
    Fingerprint checksum;
    double cost_ms = 0;
  };

  SqliteStore(StoreOptions options, std::unique_ptr<SessionWaits> own_waits, Database database, Warnings warnings);

  Status PrepareStatements();
  void NoteWhatIsRevoked();
  void QuarantineDeadUses();
  Result<Lookup> Find(const CacheKey& key, const Fingerprint& digest, const Destination& destination, Found& found);
  void HideAndDelete(const Fingerprint& digest);
  void TellIfBarred(const CacheKey& key, const Fingerprint& digest);
  bool FindPending(const CacheKey& key, const Fingerprint& digest, const Destination& destination);
  double KnownCostMs(BlobKind kind);
  // sqlite_store_put.cc
  std::vector<NewEntry> WithDigests(std::span<const PutRequest> requests);
  void NoteOrigins(std::vector<NewEntry>& entries);
  void Keep(std::span<const NewEntry> entries);
  void StorePending();
  void LeavePending();
  void StoreLeftovers();
  Status Store(std::span<const NewEntry> entries);
  Status StoreWhatFits(std::span<const NewEntry> entries, const Status& full, size_t& left_out);
  bool HasRoomOnDisk(const NewEntry& entry);
  void KeepLogInBudget(uint64_t needed_bytes);
  // sqlite_store_insert.cc
  Status StoreAll(std::span<const NewEntry> wanted, size_t& left_out);
  Status NoRoom();
  static std::vector<NewEntry> InOrderOfWorth(std::vector<NewEntry> entries);
  Result<std::vector<NewEntry>> EntriesToStore(std::span<const NewEntry> wanted, PutOutcome& outcome);
  Result<std::vector<NewEntry>> WithoutRevoked(std::span<const NewEntry> entries, PutOutcome& outcome);
  Status LeaveOutWhatIsThere(std::vector<NewEntry>& entries, PutOutcome& outcome);
  Status StoreOne(const NewEntry& entry, bool has_room, PutOutcome& outcome);
  static void Refuse(const NewEntry& entry, Refusal refusal, PutOutcome& outcome);
  Result<bool> HasRoom(std::span<const NewEntry> entries, PutOutcome& outcome);
  bool IsInUse(const Fingerprint& digest, const PutOutcome& outcome) const {
    return used_.contains(digest) || needed_.contains(digest) || outcome.present.contains(digest);
  }
  Status DeleteProgramsOf(const PutOutcome& outcome);
  Status ReturnFreedPages(int64_t free_before);
  void OnStored(const PutOutcome& outcome);
  Status NoteOthers();
  Result<bool> Insert(const NewEntry& entry);  // false if it is in quarantine
  // sqlite_store_end.cc
  Status WriteStampsAndCounters();
  void OnTrouble(std::string_view what, const Status& status);
  void Heal(const Status& damage);
  void Reopen();
  void TakeOver(Database database);
  void RejectDamaged(const CacheKey& key, const Fingerprint& digest, std::string_view trouble, std::string_view what);
  void FollowTheName();
  // `write` once more, in the new file, if another file has taken the name since FollowTheName. Precondition:
  // Writable().
  Status WriteInNamedFile(const std::function<Status()>& write);
  void Close();
  // Whether this process is a forked child of the one that opened the store. Checked before locking, because the lock
  // may have been held at the fork.
  bool IsForked() const { return ::getpid() != opener_; }
  bool ReadAgain(Status& damage);
  bool Writable() const { return database_.has_value() && !read_only_; }

  const pid_t opener_ = ::getpid();
  mutable std::atomic<bool> has_told_child_ = false;
  std::unique_ptr<SessionWaits> own_waits_;  // if the options have none
  SessionWaits& waits_;
  mutable std::mutex mutex_;  // guards everything below
  StoreOptions options_;
  Warnings warnings_;
  std::optional<Database> database_;  // nullopt after an error that could not be repaired
  std::optional<Statement> find_;     // after database_: it must be destroyed first
  std::filesystem::path file_;
  FileIdentity identity_;
  InUseMarker marker_;
  MakingClaims claims_;  // thread-safe by itself
  bool read_only_ = false;
  bool has_met_damage_ = false;  // some bytes differ from what was stored, so more may be wrong
  bool has_read_again_ = false;
  bool has_healed_ = false;
  bool has_put_ = false;
  bool has_others_ = false;  // whether the store has entries that were not made here
  int64_t seen_ms_ = 0;      // by SeeTime, not yet written
  ContentNames names_;       // thread-safe by itself
  int open_batches_ = 0;
  std::map<Fingerprint, PendingEntry> pending_;
  uint64_t pending_bytes_ = 0;
  std::vector<std::unique_ptr<MakingClaim>> held_claims_;  // until pending entries are stored
  StoreCounters counters_, flushed_;
  SessionMisses misses_;
  BarredPuts barred_puts_;
  OriginsOfBytes origins_;            // of what this session read here, or was given from elsewhere
  std::map<Fingerprint, bool> used_;  // used by this session, so never evicted; true: its stamp must be renewed
  std::set<Fingerprint> needed_;      // sources of what this session has put, so never evicted either
  std::set<Fingerprint> hidden_;      // refused or quarantined, but could not be deleted
  // Entries that were in use at an earlier crash. Their record is removed after a use without a crash.
  std::map<Fingerprint, QuarantineRecord> on_probation_;
  std::set<Fingerprint> acquitted_;
  KnownRevocations revocations_;  // from before this session began to trust keys
};

}  // namespace hearth

#endif  // HEARTH_CACHE_SQLITE_STORE_H_
