// The record of blobs that were being handed to a driver when a process died (in_use_marker.h says which).
//
// Such a blob costs its entry, and gets a strike. The same bytes may come back, since most crashes are not
// the blob's fault, until they have kMaxStrikes in a row; a use that ends well clears the record. A blob that
// came from a read-only layer can't be deleted there: its record (without a checksum) stays, and it is
// not taken from layers again.
#ifndef HEARTH_CACHE_QUARANTINE_H_
#define HEARTH_CACHE_QUARANTINE_H_

#include <cstdint>
#include <set>
#include <vector>

#include "cache/database.h"
#include "cache/in_use_marker.h"
#include "core/base/fingerprint.h"

namespace hearth {

inline constexpr int64_t kMaxStrikes = 3;

// Deletes the entries named by the markers and gives each a strike, in one transaction; then removes the markers.
Status RecordStrikes(Database& database, const std::vector<DeadMarker>& dead);

Result<std::set<Fingerprint>> QuarantinedDigests(Database& database);

// Whether these bytes must not come back under this key.
Result<bool> IsBarred(Database& database, const Fingerprint& digest, const Fingerprint& checksum);

// Within the caller's transaction.
Status Acquit(Database& database, const std::set<Fingerprint>& digests);

}  // namespace hearth

#endif  // HEARTH_CACHE_QUARANTINE_H_
