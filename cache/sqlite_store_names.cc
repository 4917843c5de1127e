// Names of content and files in keys.
#include <algorithm>
#include <limits>
#include <string_view>

#include "cache/entry_row.h"
#include "cache/sqlite_store.h"

namespace hearth {
namespace {

constexpr std::string_view kNotSeen = "not seen before";  // prefix of the short name of content that has no entries
constexpr const char* kFilePrefix = "file";               // prefix of a stamp's place, which is as long as a content's
constexpr const char* kFingerprintPrefix = "fingerprint of ";  // prefix of a content's name
constexpr int64_t kNsPerMs = 1'000'000;

std::span<const std::byte> BytesOfStamp(const FileStamp& stamp) {
  static_assert(std::has_unique_object_representations_v<FileStamp>);
  return std::as_bytes(std::span(&stamp, 1));
}

}  // namespace

std::string SqliteStore::NameOfContent(std::span<const std::byte> bytes, NameUse use) {
  const std::optional<std::string> place = IsForked() ? std::nullopt : names_.PlaceOf(bytes);
  if (!place) return BlobStore::NameOfContent(bytes, use);
  {
    const std::scoped_lock lock(mutex_);
    if (database_) {
      if (std::optional<std::string> known = names_.Find(*database_, *place)) return *std::move(known);
      if (use == NameUse::kLookUp && !has_others_) return fmt::format("{}/{}", kNotSeen, bytes.size());
    }
  }
  std::string name = BlobStore::NameOfContent(bytes, use);
  names_.Note(*place, name);
  return name;
}

std::optional<SqliteStore::KnownFile> SqliteStore::RecallFile(const FileStamp& stamp) {
  const std::optional<std::string> place = IsForked() ? std::nullopt : names_.PlaceOf(BytesOfStamp(stamp));
  const std::scoped_lock lock(mutex_);
  if (!place || !database_) return std::nullopt;
  const std::optional<std::string> text = names_.Find(*database_, kFilePrefix + *place);
  const size_t blank = text ? text->find(' ') : std::string::npos;
  if (blank == std::string::npos) return std::nullopt;
  return KnownFile{text->substr(0, blank), text->substr(blank + 1)};
}

std::optional<std::string> SqliteStore::RecallFingerprint(const std::string& name) {
  const std::scoped_lock lock(mutex_);
  return IsForked() || !database_ ? std::nullopt : names_.Find(*database_, kFingerprintPrefix + name);
}

void SqliteStore::RememberFile(const std::optional<FileStamp>& stamp, const KnownFile& known) {
  if (IsForked() || known.name.starts_with(kNotSeen)) return;
  if (RecallFingerprint(known.name) != known.fingerprint) {
    names_.Note(kFingerprintPrefix + known.name, known.fingerprint);
  }
  constexpr int64_t kMostMs = std::numeric_limits<int64_t>::max() / kNsPerMs;
  if (!stamp || !IsSettled(*stamp, std::clamp(NowMs(), -kMostMs, kMostMs) * kNsPerMs)) return;
  const std::optional<std::string> place = names_.PlaceOf(BytesOfStamp(*stamp));
  if (place) names_.Note(kFilePrefix + *place, known.fingerprint + " " + known.name);
}

void SqliteStore::SetModel(const ModelName& model) {
  const std::scoped_lock lock(mutex_);
  options_.model = model;
}

}  // namespace hearth
