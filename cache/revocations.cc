#include "cache/revocations.h"

#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace hearth {
namespace {

// Stored as rows of the table of counters, so that the store's format does not change.
constexpr std::string_view kRowPrefix = "revoked ";

}  // namespace

Result<std::set<Revocation>> ReadRevocations(Database& database) {
  HEARTH_ASSIGN(Statement rows, database.Prepare("SELECT name, value FROM counters WHERE substr(name, 1, ?)=?"));
  rows.Bind(0, static_cast<int64_t>(kRowPrefix.size())).Bind(1, kRowPrefix);
  std::set<Revocation> revocations;
  while (true) {
    HEARTH_ASSIGN(const bool row, rows.Step());
    if (!row) return revocations;
    revocations.emplace(rows.Text(0).substr(kRowPrefix.size()), rows.Number(1));
  }
}

Status NoteRevocation(Database& database, std::string_view key_prefix) {
  int64_t number = 0;
  if (::getrandom(&number, sizeof(number), 0) != sizeof(number)) {
    return Error(StatusCode::kIoError, "the system has no random numbers: {}", std::strerror(errno));
  }
  HEARTH_ASSIGN(Transaction transaction, Transaction::Begin(database));
  HEARTH_TRY(KeepRevocations(database, {{std::string(key_prefix), number}}));
  return transaction.Commit();
}

Status KeepRevocations(Database& database, const std::set<Revocation>& revocations) {
  for (const auto& [key_prefix, number] : revocations) {
    HEARTH_ASSIGN(Statement row, database.Prepare("INSERT OR REPLACE INTO counters VALUES(?, ?)"));
    const std::string name = std::string(kRowPrefix) + key_prefix;
    HEARTH_TRY(row.Bind(0, std::string_view(name)).Bind(1, number).Run());
  }
  return Status::Ok();
}

std::string_view SignerIn(std::string_view origin) {
  const size_t blank = origin.find(' ');
  return blank == std::string_view::npos ? std::string_view() : origin.substr(blank + 1);
}

bool IsRevokedSince(const std::set<Revocation>& known, const std::set<Revocation>& now, std::string_view origin) {
  const std::string_view signer = SignerIn(origin);
  return !signer.empty() && std::ranges::any_of(now, [&](const Revocation& revocation) {
    return signer.starts_with(revocation.first) && !known.contains(revocation);
  });
}

}  // namespace hearth
