#include "cache/store/entry_filter.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

#include "cache/store/revocations.h"
#include "core/base/contains.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/store/cache_key.h"

namespace hearth {
namespace {

bool ContainsIgnoringCase(std::string_view text, std::string_view part) {
  const auto equal = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  return std::search(text.begin(), text.end(), part.begin(), part.end(), equal) != text.end();
}

Status CheckKind(const std::string& kind) {
  if (kind.empty()) return Status::Ok();
  std::string names;
  for (int k = 0; k < kBlobKindCount; ++k) {
    const std::string_view name = BlobKindName(static_cast<BlobKind>(k));
    if (IsInKindFamily(name, kind)) return Status::Ok();
    names += fmt::format("{}{}", k == 0 ? "" : ", ", name);
  }
  return Error(StatusCode::kInvalidArgument, "there is no kind of entry '{}'; the kinds are {}", kind, names);
}

Status MakeHexDigits(std::string_view what, std::string& text) {
  if (!std::ranges::all_of(text, [](unsigned char c) { return std::isxdigit(c) != 0; })) {
    return Error(StatusCode::kInvalidArgument, "'{}' is not a {}: give its hex digits, all or the first ones", text,
                 what);
  }
  text = LowerCase(text);
  return Status::Ok();
}

}  // namespace

Result<CacheFilter> CheckedFilter(CacheFilter filter) {
  HEARTH_TRY(CheckKind(filter.kind));
  HEARTH_TRY(MakeHexDigits("public key", filter.signed_by));
  if (filter.signed_by.size() > kKeyDigits) {
    return Error(StatusCode::kInvalidArgument, "'{}' is not a public key: it has {} hex digits, and a key has {}",
                 filter.signed_by, filter.signed_by.size(), kKeyDigits);
  }
  HEARTH_TRY(MakeHexDigits("digest", filter.digest_prefix));
  return filter;
}

bool Matches(const CacheEntry& entry, const CacheFilter& filter) {
  if (!filter.kind.empty() && !IsInKindFamily(entry.kind, filter.kind)) return false;
  if (!entry.digest.starts_with(filter.digest_prefix) || !entry.origin.starts_with(filter.origin)) return false;
  if (!filter.signed_by.empty() && !SignerIn(entry.origin).starts_with(filter.signed_by)) return false;
  if (filter.unused_since_ms && entry.last_used_ms >= *filter.unused_since_ms) return false;
  if (filter.digests && !Contains(*filter.digests, entry.digest)) return false;
  const auto has = [&](std::string_view field, const std::string& part) {
    return std::ranges::any_of(entry.fields, [&](const auto& named) {
      return named.first == field && ContainsIgnoringCase(named.second, part);
    });
  };
  if (!filter.device.empty() && !has("device", filter.device) && !has("backend", filter.device)) return false;
  return std::ranges::all_of(filter.field_contains,
                             [&](const auto& wanted) { return has(wanted.first, wanted.second); });
}

bool IsRestricted(const CacheFilter& filter) {
  return !filter.kind.empty() || !filter.digest_prefix.empty() || !filter.field_contains.empty() ||
         !filter.device.empty() || filter.digests || filter.unused_since_ms || filter.spares_pinned ||
         !filter.origin.empty() || !filter.signed_by.empty();
}

}  // namespace hearth
