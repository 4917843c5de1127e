// Keys that were revoked (`clear --signed-by`). A session or an import that began to trust a key earlier must not store
// entries of that key again.
#ifndef HEARTH_CACHE_STORE_REVOCATIONS_H_
#define HEARTH_CACHE_STORE_REVOCATIONS_H_

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cache/files/database.h"
#include "cache/trust/signature.h"

namespace hearth {

// The first hex digits of the key and a number that tells revocations apart: a key may be trusted again after it was
// revoked, and be revoked again. Its upper bits are the time, its lower ones random.
using Revocation = std::pair<std::string, int64_t>;

// What a store knows of revocations.
struct KnownRevocations {
  std::set<Revocation> of_keys;
  // A random number of a file and of those that took its revocations over; 0: there is no file. One that was made after
  // damage has another number: nobody knows what was revoked before.
  int64_t lineage = 0;
};

Result<KnownRevocations> ReadRevocations(Database& database);

Status NoteRevocation(Database& database, std::string_view key_prefix);
// Copies revocations from another file of the store, within the caller's transaction.
Status KeepRevocations(Database& database, const KnownRevocations& known);
// Gives a lineage to a new store that has taken none over, within the caller's transaction.
Status GiveLineage(Database& database);

// The origin of entries of a bundle with this signer, in hex; empty: nobody signed it.
std::string BundleOrigin(std::string_view signed_by);
// "bundle 01ab...": the key's digits. Empty if nobody signed it.
std::string_view SignerIn(std::string_view origin);

// Whether `now` has a revocation, not among `known`, of the key that signed the entry. Precondition: they have the same
// lineage, else nobody can tell.
bool IsRevokedSince(const KnownRevocations& known, const KnownRevocations& now, std::string_view origin);

// One sentence for each of these keys that was revoked. `file` lists them as trusted, which a user may have forgotten
// to change; it may also be meant, so the keys are trusted all the same.
std::vector<std::string> TellRevoked(const KnownRevocations& known, std::span<const PublicKey> keys,
                                     const std::string& file);

}  // namespace hearth

#endif  // HEARTH_CACHE_STORE_REVOCATIONS_H_
