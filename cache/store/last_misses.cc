#include "cache/store/last_misses.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "cache/store/entry_row.h"
#include "core/base/byte_reader.h"
#include "core/base/contains.h"
#include "core/base/text.h"
#include "core/plan/key_fields.h"

namespace hearth {
namespace {

// Stored as a row of the table of counters, so that the store's format does not change.
constexpr std::string_view kRow = "last_misses";
constexpr uint8_t kVersion = 1;
constexpr size_t kMostTextBytes = 4096;
// A start looks up hundreds of entries; more are not worth the memory.
constexpr size_t kMostMissed = 4096;
// A driver update misses all entries at once, and each is compared with this many.
constexpr size_t kMostCompared = 32;

constexpr auto kTexts = {&CacheMiss::model_fingerprint,
                         &CacheMiss::model_path,
                         &CacheMiss::device,
                         &CacheMiss::kind,
                         &CacheMiss::name,
                         &CacheMiss::reason};

std::vector<std::byte> Encoded(const std::vector<CacheMiss>& misses) {
  std::vector<std::byte> bytes;
  AppendNumber(bytes, kVersion);
  for (const CacheMiss& miss : misses) {
    AppendNumber(bytes, static_cast<uint64_t>(miss.when_ms));
    for (const auto text : kTexts) {
      const std::string_view kept = std::string_view(miss.*text).substr(0, kMostTextBytes);
      AppendNumber(bytes, static_cast<uint16_t>(kept.size()));
      const auto kept_bytes = BytesOf(kept);
      bytes.insert(bytes.end(), kept_bytes.begin(), kept_bytes.end());
    }
  }
  return bytes;
}

std::vector<CacheMiss> Decoded(std::span<const std::byte> bytes) {
  std::vector<CacheMiss> misses;
  ByteReader reader(bytes);
  if (reader.Number<uint8_t>() != kVersion) return misses;
  while (!reader.rest().empty() && misses.size() < kMostLastMisses) {
    CacheMiss miss;
    const auto when_ms = reader.Number<uint64_t>();
    miss.when_ms = static_cast<int64_t>(std::min<uint64_t>(when_ms, kMostTimeMs));
    for (const auto text : kTexts) {
      const auto size = reader.Number<uint16_t>();
      if (size > kMostTextBytes) return misses;
      miss.*text = Printable(TextFrom(reader.Bytes(size)), '?');
    }
    if (reader.failed()) return misses;
    misses.push_back(std::move(miss));
  }
  return misses;
}

std::string FirstOf(const CacheKeyFields& fields, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (const std::string_view value = ValueOf(fields, name); !value.empty()) return std::string(value);
  }
  return "";
}

// Whether a key with another value there is not that of the same thing, made before or elsewhere.
bool NamesTheThing(std::string_view part) {
  for (const KeyField& field : {kModelField, kLayerField, kContentField, kKernelField, kSignatureField}) {
    if (part == field.word) return true;
  }
  return false;
}

std::string ReasonFrom(const std::optional<NearestEntry>& nearest) {
  const std::string absent = "not in the cache";
  if (!nearest || nearest->differences.empty()) return absent;
  std::vector<std::string> parts;
  std::string reason;
  for (const CacheKeyDifference& difference : nearest->differences) {
    if (NamesTheThing(difference.part)) return absent;
    if (Contains(parts, difference.part)) continue;
    parts.push_back(difference.part);
    reason += fmt::format("{}another {}: {} -> {}", reason.empty() ? "" : "; ", difference.part,
                          difference.stored.value_or("none"), difference.wanted.value_or("none"));
  }
  return reason;
}

std::vector<CacheKeyDifference> Differences(const CacheKeyFields& wanted, const CacheKeyFields& stored) {
  std::vector<CacheKeyDifference> differences;
  std::multimap<std::string, std::string> left(stored.begin(), stored.end());
  for (const auto& field : wanted) {
    const auto [first, last] = left.equal_range(field.first);
    const auto same = std::find(first, last, std::pair<const std::string, std::string>(field));
    if (same != last) {
      left.erase(same);
    } else if (first != last) {
      differences.push_back({field.first, WordOfKeyField(field.first), field.second, first->second});
      left.erase(first);
    } else {
      differences.push_back({field.first, WordOfKeyField(field.first), field.second, std::nullopt});
    }
  }
  for (const auto& [field, value] : left) differences.push_back({field, WordOfKeyField(field), std::nullopt, value});
  return differences;
}

}  // namespace

Result<std::vector<CacheMiss>> ReadLastMisses(Database& database) {
  HEARTH_ASSIGN(Statement row, database.Prepare("SELECT value FROM counters WHERE name=?"));
  HEARTH_ASSIGN(const bool is_there, row.Bind(0, kRow).Step());
  return is_there ? Decoded(row.Blob(0)) : std::vector<CacheMiss>();
}

void SessionMisses::Miss(const Fingerprint& digest, std::string_view reason) {
  if (missed_.size() < kMostMissed) missed_.try_emplace(digest, reason);
}

void SessionMisses::Make(const Fingerprint& digest, BlobKind kind, std::string_view material) {
  const auto missed = missed_.find(digest);
  if (missed == missed_.end() || made_.size() == kMostLastMisses || !own_.insert(digest).second) return;
  Made made;
  made.miss.kind = BlobKindName(kind);
  made.miss.reason = missed->second;
  if (auto fields = DecodeKeyMaterial(material); fields.ok()) made.fields = std::move(fields).value();
  made.miss.device = FirstOf(made.fields, {"device", "backend"});
  made.miss.name = FirstOf(made.fields, {kKernelField.name, kLayerField.name});
  made_.push_back(std::move(made));
}

Status SessionMisses::FindReasons(Database& database, const ModelName& model) {
  if (when_ms_ == 0) when_ms_ = NowMs();
  std::map<std::string, std::vector<CacheEntry>> stored;  // by kind
  for (Made& made : made_) {
    made.miss.when_ms = when_ms_;
    made.miss.model_fingerprint = model.fingerprint;
    made.miss.model_path = model.path;
    if (!made.miss.reason.empty()) continue;
    const auto [of_kind, is_new] = stored.try_emplace(made.miss.kind);
    if (is_new) {
      HEARTH_ASSIGN(Statement rows, database.Prepare("SELECT digest, material FROM entries WHERE kind=?1"
                                                     " ORDER BY last_used_ms DESC LIMIT ?2"));
      rows.Bind(0, made.miss.kind).Bind(1, static_cast<int64_t>(missed_.size() + kMostCompared));
      while (of_kind->second.size() < kMostCompared) {
        HEARTH_ASSIGN(const bool row, rows.Step());
        if (!row) break;
        if (missed_.contains(FingerprintFrom(rows.Blob(0)))) continue;
        CacheEntry entry;
        entry.kind = made.miss.kind;
        if (auto fields = DecodeKeyMaterial(TextFrom(rows.Blob(1))); fields.ok()) entry.fields = *std::move(fields);
        of_kind->second.push_back(std::move(entry));
      }
    }
    made.miss.reason = ReasonFrom(FindNearestEntry(of_kind->second, made.miss.kind, made.fields));
  }
  return Status::Ok();
}

Status SessionMisses::Store(Database& database) const {
  if (made_.empty()) return Status::Ok();
  std::vector<CacheMiss> misses;
  for (const Made& made : made_) misses.push_back(made.miss);
  HEARTH_ASSIGN(const std::vector<CacheMiss> earlier, ReadLastMisses(database));
  for (const CacheMiss& miss : earlier) {
    if (misses.size() < kMostLastMisses) misses.push_back(miss);
  }
  return database.RunWith("INSERT OR REPLACE INTO counters VALUES(?, ?)", kRow, Encoded(misses));
}

std::optional<NearestEntry> FindNearestEntry(const std::vector<CacheEntry>& entries, std::string_view kind,
                                             const CacheKeyFields& wanted) {
  std::optional<NearestEntry> nearest;
  for (const CacheEntry& entry : entries) {
    if (entry.kind != kind) continue;
    std::vector<CacheKeyDifference> differences = Differences(wanted, entry.fields);
    if (nearest && differences.size() >= nearest->differences.size()) continue;
    nearest = NearestEntry{&entry, std::move(differences)};
  }
  return nearest;
}

}  // namespace hearth
