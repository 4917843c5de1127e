#include "cache/content_names.h"

#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "cache/entry_row.h"
#include "core/base/text.h"

namespace hearth {
namespace {

constexpr int64_t kMostNames = 50000;  // about 5 MB

}  // namespace

Status MakeSecret(Database& database) {
  std::array<std::byte, kFingerprintSecretBytes> secret;
  if (::getrandom(secret.data(), secret.size(), 0) != static_cast<ssize_t>(secret.size())) {
    return Error(StatusCode::kIoError, "the system has no random numbers: {}", std::strerror(errno));
  }
  HEARTH_ASSIGN(Statement row, database.Prepare("INSERT INTO counters VALUES('secret', ?)"));
  return row.Bind(0, secret).Run();
}

void ContentNames::Open(Database& database) {
  const std::scoped_lock lock(mutex_);
  secret_.reset();
  new_.clear();
  Result<Statement> row = database.Prepare("SELECT value FROM counters WHERE name='secret'");
  if (!row.ok()) return;
  const Result<bool> is_there = row->Step();
  if (!is_there.ok() || !*is_there || row->Blob(0).size() != kFingerprintSecretBytes) return;
  std::ranges::copy(row->Blob(0), secret_.emplace().begin());
}

std::optional<std::string> ContentNames::PlaceOf(std::span<const std::byte> bytes) const {
  std::optional<std::array<std::byte, kFingerprintSecretBytes>> secret;
  {
    const std::scoped_lock lock(mutex_);
    secret = secret_;
  }
  if (!secret) return std::nullopt;
  const Fingerprint digest = SecretFingerprintOf(bytes, *secret);
  const uint64_t size_bytes = bytes.size();
  std::string place(TextFrom(std::as_bytes(std::span(digest.bytes))));
  return place.append(TextFrom(std::as_bytes(std::span(&size_bytes, 1))));
}

std::optional<std::string> ContentNames::Find(Database& database, const std::string& place) const {
  {
    const std::scoped_lock lock(mutex_);
    if (const auto found = new_.find(place); found != new_.end()) return found->second;
  }
  Result<Statement> row = database.Prepare("SELECT name FROM content_names WHERE fast=?");
  if (!row.ok()) return std::nullopt;
  const Result<bool> is_there = row->Bind(0, BytesOf(place)).Step();
  if (!is_there.ok() || !*is_there) return std::nullopt;
  return std::string(row->Text(0));
}

void ContentNames::Note(const std::string& place, const std::string& name) {
  const std::scoped_lock lock(mutex_);
  new_.insert_or_assign(place, name);
}

bool ContentNames::has_news() const {
  const std::scoped_lock lock(mutex_);
  return !new_.empty();
}

Status ContentNames::Store(Database& database) {
  const std::scoped_lock lock(mutex_);
  if (new_.empty()) return Status::Ok();
  // A forgotten name is computed again, so their order is not worth an index.
  HEARTH_ASSIGN(const int64_t count, database.Number("SELECT count(name) FROM content_names"));
  if (count >= kMostNames) HEARTH_TRY(database.Run("DELETE FROM content_names"));
  HEARTH_ASSIGN(Statement row, database.Prepare("INSERT OR REPLACE INTO content_names VALUES(?, ?)"));
  for (const auto& [place, name] : new_) HEARTH_TRY(row.Bind(0, BytesOf(place)).Bind(1, name).Run());
  return Status::Ok();
}

void ContentNames::OnStored() {
  const std::scoped_lock lock(mutex_);
  new_.clear();
}

}  // namespace hearth
