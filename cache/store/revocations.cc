#include "cache/store/revocations.h"

#include <fmt/chrono.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <limits>

#include "cache/store/entry_row.h"
#include "core/base/error.h"
#include "core/base/sha256.h"

namespace hearth {
namespace {

// Stored as rows of the table of counters, so that the store's format does not change.
constexpr std::string_view kRowPrefix = "revoked ", kLineageRow = "lineage";
constexpr int kRandomBits = 22;  // the time has the 41 above them, which last until 2039

// " on 2026-11-25"; empty where the number has no time: a clock was wrong, or an older Hearth made it.
std::string DayOf(const Revocation& revocation) {
  constexpr int64_t kBeforeAnyMs = 1'767'225'600'000;  // 2026-01-01
  const int64_t time_ms = revocation.second >> kRandomBits;
  if (time_ms < kBeforeAnyMs || time_ms > NowMs()) return "";
  return fmt::format(" on {:%Y-%m-%d}", fmt::gmtime(std::time_t{time_ms / 1000}));
}

Result<uint32_t> RandomNumber() {
  uint32_t number = 0;
  if (::getrandom(&number, sizeof(number), 0) == sizeof(number)) return number;
  return Error(StatusCode::kIoError, "the system has no random numbers: {}", std::strerror(errno));
}

Status WriteNumber(Database& database, std::string_view name, int64_t number) {
  return database.RunWith("INSERT OR REPLACE INTO counters VALUES(?, ?)", name, number);
}

}  // namespace

Result<KnownRevocations> ReadRevocations(Database& database) {
  HEARTH_ASSIGN(Statement rows,
                database.Prepare("SELECT name, value FROM counters WHERE substr(name, 1, ?)=? OR name=?"));
  rows.Bind(0, static_cast<int64_t>(kRowPrefix.size())).Bind(1, kRowPrefix).Bind(2, kLineageRow);
  KnownRevocations known;
  HEARTH_TRY(rows.ForEachRow([&] {
    if (rows.Text(0) == kLineageRow) {
      known.lineage = rows.Number(1);
    } else {
      known.of_keys.emplace(rows.Text(0).substr(kRowPrefix.size()), rows.Number(1));
    }
  }));
  return known;
}

Status NoteRevocation(Database& database, std::string_view key_prefix) {
  HEARTH_ASSIGN(const uint32_t noise, RandomNumber());
  const int64_t time_ms = std::clamp<int64_t>(NowMs(), 0, std::numeric_limits<int64_t>::max() >> kRandomBits);
  const int64_t number = time_ms << kRandomBits | (noise & ((1U << kRandomBits) - 1));
  HEARTH_ASSIGN(Transaction transaction, Transaction::Begin(database));
  HEARTH_TRY(KeepRevocations(database, {.of_keys = {{std::string(key_prefix), number}}}));
  return transaction.Commit();
}

Status KeepRevocations(Database& database, const KnownRevocations& known) {
  for (const auto& [key_prefix, number] : known.of_keys) {
    HEARTH_TRY(WriteNumber(database, std::string(kRowPrefix) + key_prefix, number));
  }
  return known.lineage == 0 ? Status::Ok() : WriteNumber(database, kLineageRow, known.lineage);
}

Status GiveLineage(Database& database) {
  HEARTH_ASSIGN(const KnownRevocations known, ReadRevocations(database));
  if (known.lineage != 0) return Status::Ok();
  HEARTH_ASSIGN(const uint32_t upper, RandomNumber());
  HEARTH_ASSIGN(const uint32_t lower, RandomNumber());
  return WriteNumber(database, kLineageRow, static_cast<int64_t>(uint64_t{upper} << 32 | lower | 1));  // never 0
}

std::string BundleOrigin(std::string_view signed_by) {
  return signed_by.empty() ? "bundle" : "bundle " + std::string(signed_by);
}

std::string_view SignerIn(std::string_view origin) {
  const size_t blank = origin.find(' ');
  return blank == std::string_view::npos ? std::string_view() : origin.substr(blank + 1);
}

bool IsRevokedSince(const KnownRevocations& known, const KnownRevocations& now, std::string_view origin) {
  const std::string_view signer = SignerIn(origin);
  return !signer.empty() && std::ranges::any_of(now.of_keys, [&](const Revocation& revocation) {
    return signer.starts_with(revocation.first) && !known.of_keys.contains(revocation);
  });
}

std::vector<std::string> TellRevoked(const KnownRevocations& known, std::span<const PublicKey> keys,
                                     const std::string& file) {
  std::vector<std::string> told;
  for (const PublicKey& key : keys) {
    const std::string digits = HexOf(key);
    const Revocation* latest = nullptr;
    for (const Revocation& revocation : known.of_keys) {
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
