// Keys that were revoked (`clear --signed-by`). A session or an import that began to trust a key earlier must not store
// entries of that key again.
#ifndef HEARTH_CACHE_REVOCATIONS_H_
#define HEARTH_CACHE_REVOCATIONS_H_

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cache/database.h"
#include "cache/signature.h"

namespace hearth {

// The first hex digits of the key and a number that tells revocations apart: a key may be trusted again after it was
// revoked, and be revoked again. Its upper bits are the time, its lower ones random.
using Revocation = std::pair<std::string, int64_t>;

Result<std::set<Revocation>> ReadRevocations(Database& database);

Status NoteRevocation(Database& database, std::string_view key_prefix);
// Copies revocations from another file of the store, within the caller's transaction.
Status KeepRevocations(Database& database, const std::set<Revocation>& revocations);

// "bundle 01ab...": the key's digits. Empty if nobody signed it.
std::string_view SignerIn(std::string_view origin);

// Whether `now` has a revocation, not among `known`, of the key that signed the entry.
bool IsRevokedSince(const std::set<Revocation>& known, const std::set<Revocation>& now, std::string_view origin);

// One sentence for each of these keys that was revoked. `file` lists them as trusted, which a user may have forgotten
// to change; it may also be meant, so the keys are trusted all the same.
std::vector<std::string> TellRevoked(const std::set<Revocation>& revocations, std::span<const PublicKey> keys,
                                     const std::string& file);

}  // namespace hearth

#endif  // HEARTH_CACHE_REVOCATIONS_H_
