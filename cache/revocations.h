// Keys that were revoked (`clear --signed-by`), as the store knows them: a session or an import that began to trust a
// key before that must not bring back what it signed.
#ifndef HEARTH_CACHE_REVOCATIONS_H_
#define HEARTH_CACHE_REVOCATIONS_H_

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "cache/database.h"

namespace hearth {

// The hex digits that the key begins with, and a random number, so that each time counts: a key may be trusted again
// after it was revoked, and be revoked again.
using Revocation = std::pair<std::string, int64_t>;

Result<std::set<Revocation>> ReadRevocations(Database& database);

// Both within the caller's transaction or as one of their own. Keep writes down what another file of the store knew.
Status NoteRevocation(Database& database, std::string_view key_prefix);
Status KeepRevocations(Database& database, const std::set<Revocation>& revocations);

// "bundle 01ab...": the key's digits. Empty: nobody signed it.
std::string_view SignerIn(std::string_view origin);

// Whether one of `now` that is not among `known` is of the key that signed the entry.
bool IsRevokedSince(const std::set<Revocation>& known, const std::set<Revocation>& now, std::string_view origin);

}  // namespace hearth

#endif  // HEARTH_CACHE_REVOCATIONS_H_
