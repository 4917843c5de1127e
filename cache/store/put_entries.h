// Puts entries into a store: which of them it takes, in which order, and what makes room for them.
#ifndef HEARTH_CACHE_STORE_PUT_ENTRIES_H_
#define HEARTH_CACHE_STORE_PUT_ENTRIES_H_

#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "cache/files/database.h"
#include "cache/store/revocations.h"
#include "core/store/entry_source.h"

namespace hearth {

// What decides about new entries.
struct Admission {
  uint64_t max_bytes = 0;         // of the file with its log
  std::filesystem::path damaged;  // a damaged file beside it, which counts against the limit and is the first to go
  std::function<bool(const Fingerprint&)> is_in_use;  // such entries are never evicted
  KnownRevocations revocations;                       // from before the session began to trust keys
};

struct PutOutcome {
  std::vector<PutResult> results;  // by entry
  std::set<Fingerprint> present;   // stored, or there already
  bool has_lacked_room = false;
  bool knows_revocations = true;  // false: the file is not the one whose revocations are known
};

// Within the caller's transaction. Where there is no room for all, those come first that save most time per byte;
// entries of least worth are evicted for them, with the programs that need evicted sources.
Status PutEntries(Database& database, std::span<const NewEntry> entries, const Admission& admission,
                  PutOutcome& outcome);

// The indices of the entries, those first whose bytes save most time. An entry and what needs it count as one, because
// either alone saves nothing, and the needed one comes first.
std::vector<size_t> MostWorthFirst(std::span<const NewEntry> entries);

// The digest of the entry without which this one is of no use.
std::optional<Fingerprint> NeedOf(const NewEntry& entry);

}  // namespace hearth

#endif  // HEARTH_CACHE_STORE_PUT_ENTRIES_H_
