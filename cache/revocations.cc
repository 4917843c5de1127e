#include "cache/revocations.h"

#include <fmt/chrono.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <limits>

#include "cache/entry_row.h"
#include "core/base/error.h"
#include "core/base/sha256.h"

namespace hearth {
namespace {

// Stored as rows of the table of counters, so that the store's format does not change.
constexpr std::string_view kRowPrefix = "revoked ";
constexpr int kRandomBits = 22;  // the time has the 41 above them, which last until 2039

// " on 2026-11-25"; empty where the number has no time: a clock was wrong, or an older Hearth made it.
std::string DayOf(const Revocation& revocation) {
  constexpr int64_t kBeforeAnyMs = 1'767'225'600'000;  // 2026-01-01
  const int64_t time_ms = revocation.second >> kRandomBits;
  if (time_ms < kBeforeAnyMs || time_ms > NowMs()) return "";
  return fmt::format(" on {:%Y-%m-%d}", fmt::gmtime(std::time_t{time_ms / 1000}));
}

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
  uint32_t noise = 0;
  if (::getrandom(&noise, sizeof(noise), 0) != sizeof(noise)) {
    return Error(StatusCode::kIoError, "the system has no random numbers: {}", std::strerror(errno));
  }
  const int64_t time_ms = std::clamp<int64_t>(NowMs(), 0, std::numeric_limits<int64_t>::max() >> kRandomBits);
  const int64_t number = time_ms << kRandomBits | (noise & ((1U << kRandomBits) - 1));
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

std::vector<std::string> TellRevoked(const std::set<Revocation>& revocations, std::span<const PublicKey> keys,
                                     const std::string& file) {
  std::vector<std::string> told;
  for (const PublicKey& key : keys) {
    const std::string digits = HexOf(key);
    const Revocation* latest = nullptr;
    for (const Revocation& revocation : revocations) {
      if (!digits.starts_with(revocation.first)) continue;
      if (latest == nullptr || revocation.second > latest->second) latest = &revocation;
    }
    if (latest == nullptr) continue;
    told.push_back(
        fmt::format("the key {} was revoked{} by `hearth cache clear --signed-by`, but {} still lists it and "
                    "it is trusted: remove it from that file",
                    digits, DayOf(*latest), file));
  }
  return told;
}

}  // namespace hearth
