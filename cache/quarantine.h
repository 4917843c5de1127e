// The record of blobs that were being handed to a driver when a process died (in_use_marker.h says which).
//
// Such a blob costs its entry, and gets a strike. The same bytes may come back, since most crashes are not
// the blob's fault, until they have kMaxStrikes in a row, and then for a week not; a use that ends well clears the
// record, so does clearing the kind. A blob that came from a read-only layer can't be deleted there: its record
// (without a checksum) stays, and it is not taken from layers again.
#ifndef HEARTH_CACHE_QUARANTINE_H_
#define HEARTH_CACHE_QUARANTINE_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cache/database.h"
#include "cache/in_use_marker.h"
#include "core/base/fingerprint.h"

namespace hearth {

inline constexpr int64_t kMaxStrikes = 3;
// A record counts for a week: the driver or the machine may have been mended. An update of the driver makes other keys.
inline constexpr int64_t kQuarantineMs = int64_t{7} * 24 * 60 * 60 * 1000;

struct QuarantineRecord {
  int64_t strikes = 0;
  int64_t until_ms = 0;  // since 1970
  std::string kind;      // empty: of an entry of a layer
};

// Deletes the entries named by the markers and gives each a strike, in one transaction; then removes the markers.
Status RecordStrikes(Database& database, const std::vector<DeadMarker>& dead);

// Records that still count; older ones are deleted where the database can be written to. Those from the future, which a
// clock that was set back makes, count from now on.
Result<std::map<Fingerprint, QuarantineRecord>> ReadQuarantine(Database& database);

// Whether these bytes must not come back under this key.
Result<bool> IsBarred(Database& database, const Fingerprint& digest, const Fingerprint& checksum);

// Forgets the records of a kind, with those whose kind is not known; of all kinds when it is empty.
Result<uint64_t> LiftQuarantine(Database& database, std::string_view kind);

// Within the caller's transaction.
Status Acquit(Database& database, const std::set<Fingerprint>& digests);

}  // namespace hearth

#endif  // HEARTH_CACHE_QUARANTINE_H_
