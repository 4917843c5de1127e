// The cache on disk: one sqlite file that all processes of a user share.
#ifndef HEARTH_CACHE_SQLITE_STORE_H_
#define HEARTH_CACHE_SQLITE_STORE_H_

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string_view>

#include "cache/content_names.h"
#include "cache/in_use_marker.h"
#include "cache/making_claim.h"
#include "cache/quarantine.h"
#include "cache/revocations.h"
#include "cache/store_file.h"
#include "core/base/blob_store.h"
#include "core/base/file_stamp.h"

namespace hearth {

// A forked child that has a copy gets misses from it, and a warning: neither connection nor side files are its own.
//
// Thread-safe: calls wait for each other while they are in the database. The destination given to
// Get is called meanwhile and must not call the store.
class SqliteStore final : public BlobStore {
 public:
  // Finds or makes the store in `options.folder` under the rules of folder.h, heals it, and
  // quarantines what a dead process was using. An error means "no cache": the caller warns
  // and goes on without.
  static Result<std::unique_ptr<SqliteStore>> Open(StoreOptions options);
  ~SqliteStore() override;  // Flush

  using BlobStore::Get;
  bool Get(const CacheKey& key, const Destination& destination) override;
  void ForEach(const CacheKey& common, const Visitor& visit) override;
  // For a look-up, content that the store has never seen gets a short name: no SHA-256 is computed for what can't be
  // there. Where entries came from elsewhere it gets its own.
  std::string NameOfContent(std::span<const std::byte> bytes, NameUse use) override;
  // While somebody else writes, for longer than the session may wait, it is kept in memory until the next chance.
  void Put(std::span<const PutRequest> requests) override;
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

  void Flush() override;  // the destructor does it too

  // What a file holds, known by its stamp: its fingerprint and its name in keys, without reading it.
  struct KnownFile {
    std::string fingerprint, name;
  };
  std::optional<KnownFile> RecallFile(const FileStamp& stamp);
  // What was remembered with this name of a content: whoever has computed one need not compute the other.
  std::optional<std::string> RecallFingerprint(const std::string& name);
  // The name in full, as NameOfContent gives it for a put. A stamp of a file that is not settled is not remembered.
  void RememberFile(const std::optional<FileStamp>& stamp, const KnownFile& known);
  // Whose session it is, where that was not known when the store was opened.
  void SetModel(const ModelName& model);

  // Where it is, or was until somebody cleared the cache: what is put goes into the file that has its name now.
  std::filesystem::path file() const { return file_; }

 private:
  enum class Lookup { kHit, kMiss, kReject };
  // To be stored. The bytes are the caller's, or lie in `pending_`.
  struct NewEntry {
    const CacheKey* key = nullptr;
    std::span<const std::byte> bytes;
    double cost_ms = 0;
    std::string_view origin;
    Fingerprint digest, checksum;
  };
  // Put, not yet stored.
  struct PendingEntry {
    CacheKey key;
    std::vector<std::byte> bytes;
    double cost_ms = 0;
    std::string origin;
    Fingerprint checksum;
  };
  // What a look-up found: bytes not yet verified.
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
  void TellIfBarred(const CacheKey& key, const Fingerprint& digest);
  bool FindPending(const CacheKey& key, const Fingerprint& digest, const Destination& destination);
  double KnownCostMs(BlobKind kind);
  // sqlite_store_put.cc
  std::vector<NewEntry> WithDigests(std::span<const PutRequest> requests);
  void Keep(std::span<const NewEntry> entries);
  void StorePending();
  void LeavePending();
  void StoreLeftovers();
  Status Store(std::span<const NewEntry> entries, bool all_or_nothing);
  Status StoreAll(std::span<const NewEntry> wanted, bool all_or_nothing, size_t& left_out);
  void KeepLogInBudget(uint64_t needed_bytes);
  Result<bool> HasRoom(std::span<const NewEntry> entries, const std::set<Fingerprint>& stored);
  Status Insert(const NewEntry& entry);
  Result<std::vector<NewEntry>> WithoutRevoked(std::span<const NewEntry> entries);
  Status NoteOthers();
  // sqlite_store_end.cc
  Status WriteStampsAndCounters();
  void OnTrouble(std::string_view what, const Status& status);
  void Heal(const Status& damage);
  void Reopen();
  void TakeOver(Database database);
  void RejectDamaged(const CacheKey& key, const Fingerprint& digest, std::string_view trouble, std::string_view what);
  void FollowTheName();
  // In a child of the process that opened it. Asked before the lock, which may have been held at the fork.
  bool IsForked() const { return ::getpid() != opener_; }
  bool ReadAgain(Status& damage);
  bool Writable() const { return database_.has_value() && !read_only_; }

  const pid_t opener_ = ::getpid();
  mutable std::atomic<bool> has_told_child_ = false;
  std::unique_ptr<SessionWaits> own_waits_;  // where the options name none
  SessionWaits& waits_;
  mutable std::mutex mutex_;  // guards everything below
  StoreOptions options_;
  Warnings warnings_;
  std::optional<Database> database_;  // empty after trouble that could not be healed
  std::optional<Statement> find_;     // after database_: it must go first
  std::filesystem::path file_;
  FileIdentity identity_;
  InUseMarker marker_;
  MakingClaims claims_;  // thread-safe by itself
  bool read_only_ = false;
  bool has_met_damage_ = false;  // bytes that are not what was stored, so that more may be wrong
  bool has_read_again_ = false;
  bool has_healed_ = false;
  bool has_put_ = false;
  bool has_others_ = false;  // entries that were not made here
  ContentNames names_;       // thread-safe by itself
  int open_batches_ = 0;
  std::map<Fingerprint, PendingEntry> pending_;
  uint64_t pending_bytes_ = 0;
  std::vector<std::unique_ptr<MakingClaim>> held_claims_;  // until what is pending is stored
  StoreCounters counters_, flushed_;
  std::map<Fingerprint, bool> used_;  // by this session, so never evicted; true: its stamp is to be renewed
  std::set<Fingerprint> hidden_;      // refused or quarantined, but could not be deleted
  // In use at a crash before: their record goes once they were used without one.
  std::map<Fingerprint, QuarantineRecord> on_probation_;
  std::set<Fingerprint> acquitted_;
  std::set<Revocation> revocations_;  // older than this session's trust
};

}  // namespace hearth

#endif  // HEARTH_CACHE_SQLITE_STORE_H_
