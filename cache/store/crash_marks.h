// The entries that were in use when a process died, as a store remembers them: in_use_marker.h finds them,
// quarantine.h keeps them.
#ifndef HEARTH_CACHE_STORE_CRASH_MARKS_H_
#define HEARTH_CACHE_STORE_CRASH_MARKS_H_

#include <map>
#include <set>
#include <string>

#include "cache/files/in_use_marker.h"
#include "cache/store/quarantine.h"
#include "cache/store/store_connection.h"
#include "core/store/entry_source.h"

namespace hearth {

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
  Status Store(Database& database) const { return Acquit(database, acquitted_); }  // in the caller's transaction
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

#endif  // HEARTH_CACHE_STORE_CRASH_MARKS_H_
