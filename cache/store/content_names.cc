#include "cache/store/content_names.h"

#include <algorithm>
#include <string_view>

#include "core/base/text.h"

namespace hearth {
namespace {

constexpr int64_t kMostNames = 50000;                     // about 5 MB
constexpr std::string_view kNotSeen = "not seen before";  // prefix of the short name of content that has no entries
constexpr const char* kFilePrefix = "file";               // prefix of a stamp's place, which is as long as a content's
constexpr const char* kFingerprintPrefix = "fingerprint of ";  // prefix of a content's name

std::span<const std::byte> BytesOfStamp(const FileStamp& stamp) {
  static_assert(std::has_unique_object_representations_v<FileStamp>);
  return std::as_bytes(std::span(&stamp, 1));
}

std::string PlaceText(const Fingerprint& digest, uint64_t size_bytes) {
  std::string place(TextFrom(std::as_bytes(std::span(digest.bytes))));
  return place.append(TextFrom(std::as_bytes(std::span(&size_bytes, 1))));
}

}  // namespace

Status StoreContentNames::Load(Database& database) {
  secret_.reset();
  new_.clear();
  HEARTH_ASSIGN(const int64_t others, database.Number("SELECT count(*) FROM counters WHERE name='others'"));
  has_others_ = knows_others_ = others != 0;
  HEARTH_ASSIGN(Statement row, database.Prepare("SELECT value FROM counters WHERE name='secret'"));
  HEARTH_ASSIGN(const bool is_there, row.Step());
  if (!is_there || row.Blob(0).size() != kFingerprintSecretBytes) return Status::Ok();
  std::ranges::copy(row.Blob(0), secret_.emplace().begin());
  return Status::Ok();
}

// A copy: hashing goes on without the lock, so that other threads can read meanwhile.
std::optional<StoreContentNames::Secret> StoreContentNames::secret() const {
  if (connection_.IsForked()) return std::nullopt;
  const std::scoped_lock lock(connection_.mutex());
  return secret_;
}

std::optional<std::string> StoreContentNames::PlaceOf(std::span<const std::byte> bytes) const {
  const std::optional<Secret> key = secret();
  return key ? std::optional(PlaceText(SecretFingerprintOf(bytes, *key), bytes.size())) : std::nullopt;
}

std::optional<std::string> StoreContentNames::Find(const std::string& place) {
  if (const auto found = new_.find(place); found != new_.end()) return found->second;
  if (connection_.database() == nullptr) return std::nullopt;
  Result<Statement> row = connection_.database()->Prepare("SELECT name FROM content_names WHERE fast=?");
  if (!row.ok()) return std::nullopt;
  const Result<bool> is_there = row->Bind(0, BytesOf(place)).Step();
  if (!is_there.ok() || !*is_there) return std::nullopt;
  return std::string(row->Text(0));
}

void StoreContentNames::Note(const std::string& place, const std::string& name) {
  const std::scoped_lock lock(connection_.mutex());
  new_.insert_or_assign(place, name);
}

std::optional<std::string> StoreContentNames::NameAt(const std::string& place, uint64_t size_bytes, NameUse use) {
  const std::scoped_lock lock(connection_.mutex());
  if (std::optional<std::string> known = Find(place)) return known;
  if (use == NameUse::kLookUp && !has_others_ && connection_.database() != nullptr)
    return fmt::format("{}/{}", kNotSeen, size_bytes);
  return std::nullopt;
}

std::string StoreContentNames::NameOf(std::span<const std::byte> bytes, NameUse use) {
  const std::optional<std::string> place = PlaceOf(bytes);
  if (!place) return NameByHash(bytes);
  if (std::optional<std::string> name = NameAt(*place, bytes.size(), use)) return *std::move(name);
  std::string name = NameByHash(bytes);
  Note(*place, name);
  return name;
}

Result<KnownFile> StoreContentNames::NameOf(const ContentReading& content, NameUse use) {
  const std::optional<Secret> key = secret();
  const std::span<const std::byte> secret_bytes = key ? std::span<const std::byte>(*key) : std::span<const std::byte>();
  const auto read = [&](WithName with_name) { return DigestsOf(content, secret_bytes, with_name); };
  HEARTH_ASSIGN(ContentDigests digests, read(!key || use == NameUse::kPutNew ? WithName::kYes : WithName::kNo));
  const auto place = [&] { return PlaceText(digests.secret_fingerprint, content.size_bytes); };
  if (key && digests.name.empty()) {
    if (std::optional<std::string> name = NameAt(place(), content.size_bytes, use))
      return KnownFile{digests.fingerprint.ToHex(), *std::move(name)};
    HEARTH_ASSIGN(digests, read(WithName::kYes));
  }
  if (key) Note(place(), digests.name);
  return KnownFile{digests.fingerprint.ToHex(), std::move(digests.name)};
}

std::optional<KnownFile> StoreContentNames::RecallFile(const FileStamp& stamp) {
  const std::optional<std::string> place = PlaceOf(BytesOfStamp(stamp));
  if (!place) return std::nullopt;
  const std::scoped_lock lock(connection_.mutex());
  const std::optional<std::string> text = Find(kFilePrefix + *place);
  const size_t blank = text ? text->find(' ') : std::string::npos;
  if (blank == std::string::npos) return std::nullopt;
  return KnownFile{text->substr(0, blank), text->substr(blank + 1)};
}

std::optional<std::string> StoreContentNames::RecallFingerprint(const std::string& name) {
  if (connection_.IsForked()) return std::nullopt;
  const std::scoped_lock lock(connection_.mutex());
  return Find(kFingerprintPrefix + name);
}

void StoreContentNames::RememberFile(const std::optional<FileStamp>& stamp, const KnownFile& known) {
  if (connection_.IsForked() || known.name.starts_with(kNotSeen)) return;
  if (RecallFingerprint(known.name) != known.fingerprint) Note(kFingerprintPrefix + known.name, known.fingerprint);
  if (!stamp || !IsSettledNow(*stamp)) return;
  const std::optional<std::string> place = PlaceOf(BytesOfStamp(*stamp));
  if (place) Note(kFilePrefix + *place, known.fingerprint + " " + known.name);
}

Status StoreContentNames::Store(Database& database) {
  if (has_others_ && !knows_others_) HEARTH_TRY(database.Run("INSERT OR IGNORE INTO counters VALUES('others', 1)"));
  if (new_.empty()) return Status::Ok();
  // A forgotten name is computed again, so their order is not worth an index.
  HEARTH_ASSIGN(const int64_t count, database.Number("SELECT count(name) FROM content_names"));
  if (count >= kMostNames) HEARTH_TRY(database.Run("DELETE FROM content_names"));
  HEARTH_ASSIGN(Statement row, database.Prepare("INSERT OR REPLACE INTO content_names VALUES(?, ?)"));
  for (const auto& [place, name] : new_) HEARTH_TRY(row.Bind(0, BytesOf(place)).Bind(1, name).Run());
  return Status::Ok();
}

void StoreContentNames::OnStored() {
  new_.clear();
  knows_others_ = has_others_;
}

}  // namespace hearth
