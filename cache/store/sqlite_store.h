// The cache on disk: one sqlite file that all processes of a user share. It holds entries, and remembers beside them
// crashes, names of contents and statistics; each has a class of its own, over one connection.
#ifndef HEARTH_CACHE_STORE_SQLITE_STORE_H_
#define HEARTH_CACHE_STORE_SQLITE_STORE_H_

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cache/store/content_names.h"
#include "cache/store/making_claim.h"
#include "cache/store/put_entries.h"
#include "cache/store/quarantine.h"
#include "cache/store/session_records.h"
#include "cache/store/store_connection.h"
#include "core/store/entry_source.h"

namespace hearth {

// In a forked child a copy of the store only misses: connection and side files belong to the parent.
//
// Any thread: calls wait for each other while they are in the database. Get calls its destination during that time; it
// must not call the store.
class SqliteStore final : public EntrySource {
 public:
  // Errors: as StoreConnection::Open. Quarantines entries that a dead process was using.
  static Result<std::unique_ptr<SqliteStore>> Open(StoreOptions options);
  ~SqliteStore() override;

  Answer Get(const CacheKey& key, const Destination& destination, FoundEntry& found) override;
  bool Has(const CacheKey& key) override;
  void ForEach(const CacheKey& common, const Visitor& visit) override;
  // Stores all entries that fit, in one transaction. False if another process writes for longer than the session may
  // wait.
  bool Put(std::span<const NewEntry> entries, std::span<PutResult> results, double patience_ms) override;
  void Remove(const CacheKey& key) override;
  std::vector<std::string> TakeWarnings() override;

  StoreCrashMarks& marks() { return marks_; }
  StoreMakingClaims& claims() { return claims_; }
  StoreContentNames& names() { return names_; }
  SessionRecords& records() { return records_; }
  // From before this session began to trust keys.
  const KnownRevocations& revocations() const { return revocations_; }
  std::filesystem::path file() const;

 private:
  explicit SqliteStore(std::unique_ptr<StoreConnection> connection);

  Status OnFile(Database* database);
  void NoteWhatIsRevoked();
  // Leaves the row of the entry in `find_`, with a read transaction that its Reset ends.
  Result<bool> FindRow(const CacheKey& key);
  Result<Answer> Find(const CacheKey& key, const Destination& destination, FoundEntry& found);
  Status StoreAll(Database& database, std::span<const NewEntry> entries, std::span<PutResult> results);
  Status StoreWhatFits(std::span<const NewEntry> entries, std::span<PutResult> results);
  Status NoRoom();
  void WarnOfRevoked(const PutOutcome& outcome);
  bool HasRoomOnDisk(const NewEntry& entry);

  std::unique_ptr<StoreConnection> connection_;
  StoreCrashMarks marks_;
  StoreContentNames names_;
  SessionRecords records_;
  StoreMakingClaims claims_;
  std::optional<Statement> find_;  // of the open file
  KnownRevocations revocations_;
};

}  // namespace hearth

#endif  // HEARTH_CACHE_STORE_SQLITE_STORE_H_
