// Records of blobs that were being handed to a driver when a process died (in_use_marker.h says which).
//
// The entry of such a blob is deleted, and the blob gets a strike. Most crashes are not the blob's fault, so the same
// bytes are accepted again until they have kMaxStrikes in a row, and then not for a week. A use that ends well clears
// the record, and so does clearing the kind. A blob from a read-only layer can't be deleted there: its record (without
// a checksum) stays, and it is not taken from layers again.
#ifndef HEARTH_CACHE_STORE_QUARANTINE_H_
#define HEARTH_CACHE_STORE_QUARANTINE_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cache/files/database.h"
#include "cache/files/in_use_marker.h"
#include "cache/store/store_connection.h"
#include "core/base/fingerprint.h"
#include "core/store/entry_source.h"

namespace hearth {

inline constexpr int64_t kMaxStrikes = 3;

struct QuarantineRecord {
  int64_t strikes = 0;
  int64_t until_ms = 0;  // since 1970
  std::string kind;      // empty for an entry of a layer
};

// Deletes the entries named by the markers and gives each a strike, in one transaction; then removes the markers.
Status RecordStrikes(Database& database, const std::vector<DeadMarker>& dead);

// Records that still count. Older ones are deleted if the database is writable. Those from the future (the clock was
// set back) count from now on.
Result<std::map<Fingerprint, QuarantineRecord>> ReadQuarantine(Database& database);

// Whether these bytes are refused under this key.
Result<bool> IsBarred(Database& database, const Fingerprint& digest, const Fingerprint& checksum);

// Deletes the records of a kind and those without a kind; of all kinds if `kind` is empty.
Result<uint64_t> LiftQuarantine(Database& database, std::string_view kind);

// The entries that were in use when a process died, as a store remembers them.
class StoreCrashMarks final : public CrashMarks {
 public:
  explicit StoreCrashMarks(StoreConnection& connection)
      : connection_(connection), marker_(connection.options().folder) {}

  // Quarantines what dead processes were using. Call it when the store is open.
  void TakeDeadUses();

  void BeginUse(const CacheKey& key) override;
  void EndUse(const CacheKey& key) override;
  bool IsSuspect(const CacheKey& key) const override;
  bool IsHidden(const CacheKey& key) const override;
  int64_t EndOfQuarantineMs(const Fingerprint& digest) const;  // 0: it is not in quarantine

  // The rest needs the connection's lock.

  Status Load(Database& database);  // the records of a file that was opened
  // Warns of a missing entry that is not accepted any more, and so is made at each start.
  void WarnIfBarred(const CacheKey& key, const Fingerprint& digest);
  void Unhide(const Fingerprint& digest) { hidden_.erase(digest); }  // it was stored anew
  bool has_news() const { return !acquitted_.empty(); }
  Status Store(Database& database) const;  // in the caller's transaction
  void OnStored();

 private:
  StoreConnection& connection_;
  InUseMarker marker_;
  // Entries that were in use at an earlier crash. Their record is removed after a use without a crash.
  std::map<Fingerprint, QuarantineRecord> on_probation_;
  std::set<Fingerprint> acquitted_;
  std::set<Fingerprint> hidden_;  // that could not be deleted
};

}  // namespace hearth

#endif  // HEARTH_CACHE_STORE_QUARANTINE_H_
