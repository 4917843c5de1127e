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
#include "core/base/fingerprint.h"

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

// Within the caller's transaction.
Status Acquit(Database& database, const std::set<Fingerprint>& digests);

}  // namespace hearth

#endif  // HEARTH_CACHE_STORE_QUARANTINE_H_
