// The cache on disk: one sqlite file that all processes of a user share.
#ifndef HEARTH_CACHE_SQLITE_STORE_H_
#define HEARTH_CACHE_SQLITE_STORE_H_

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string_view>

#include "cache/in_use_marker.h"
#include "cache/making_claim.h"
#include "cache/store_file.h"
#include "core/base/blob_store.h"

namespace hearth {

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
  void Put(std::span<const PutRequest> requests) override;
  void Reject(const CacheKey& key, std::string_view reason) override;
  void BeginUse(const CacheKey& key) override;
  void EndUse(const CacheKey& key) override;
  MakingTurn TakeMakingTurn(const CacheKey& key) override;
  bool IsSuspect(const CacheKey& key) const override;
  StoreCounters counters() const override;  // of this session
  std::vector<std::string> TakeWarnings() override;

  void Flush() override;  // the destructor does it too

  std::filesystem::path file() const { return options_.folder / kStoreFileName; }

 private:
  enum class Lookup { kHit, kMiss, kReject };
  // What a look-up found: bytes not yet verified.
  struct Found {
    std::span<const std::byte> bytes;
    Fingerprint checksum;
    double cost_ms = 0;
  };

  SqliteStore(StoreOptions options, Database database, Warnings warnings);

  Status PrepareStatements();
  void QuarantineDeadUses();
  Result<Lookup> Find(const CacheKey& key, const Fingerprint& digest, const Destination& destination, Found& found);
  Status PutAll(std::span<const PutRequest> requests, std::span<const Fingerprint> checksums);
  Status Insert(const PutRequest& request, const Fingerprint& digest, const Fingerprint& checksum);
  Status WriteStampsAndCounters();
  void OnTrouble(std::string_view what, const Status& status);
  void Heal(const Status& damage);
  bool Writable() const { return database_.has_value() && !read_only_; }

  mutable std::mutex mutex_;  // guards everything below
  StoreOptions options_;
  Warnings warnings_;
  std::optional<Database> database_;  // empty after trouble that could not be healed
  std::optional<Statement> find_;     // after database_: it must go first
  FileIdentity identity_;
  InUseMarker marker_;
  MakingClaims claims_;  // thread-safe by itself
  bool read_only_ = false;
  bool has_met_damage_ = false;  // bytes that are not what was stored, so that more may be wrong
  bool has_healed_ = false;
  bool has_put_ = false;
  StoreCounters counters_, flushed_;
  std::map<Fingerprint, bool> used_;    // by this session, so never evicted; true: its stamp is to be renewed
  std::set<Fingerprint> hidden_;        // refused or quarantined, but could not be deleted
  std::set<Fingerprint> on_probation_;  // quarantined before: their record goes once they were used without a crash
  std::set<Fingerprint> acquitted_;
};

}  // namespace hearth

#endif  // HEARTH_CACHE_SQLITE_STORE_H_
