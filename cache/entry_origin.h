// Where bytes came from, so that they keep their origin (PutRequest::origin) when a session that has loaded them puts
// them again without saying so (hal/load_or_compile.h): revocations must find them, and nobody may sign what others
// have signed.
#ifndef HEARTH_CACHE_ENTRY_ORIGIN_H_
#define HEARTH_CACHE_ENTRY_ORIGIN_H_

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cache/needed_source.h"
#include "core/base/blob_store.h"

namespace hearth {

// The origin of entries of a bundle with this signer, in hex; empty: nobody signed it.
std::string BundleOrigin(std::string_view signed_by);

// The origins of entries by the digests of their keys and of their bytes. Texts stay where they are.
class OriginsOfBytes {
 public:
  // What is noted already stays: the same bytes keep their origin.
  std::string_view Note(const Fingerprint& digest, const Fingerprint& checksum, std::string_view origin) {
    return origins_.try_emplace({digest, checksum}, origin).first->second;
  }
  std::optional<std::string_view> Find(const Fingerprint& digest, const Fingerprint& checksum) const {
    const auto found = origins_.find({digest, checksum});
    return found == origins_.end() ? std::nullopt : std::optional<std::string_view>(found->second);
  }

 private:
  std::map<std::pair<Fingerprint, Fingerprint>, std::string> origins_;
};

// Implemented by stores that know where their entries came from.
class KnowsOrigins {
 public:
  // Of bytes that this session read in the store under this key. Empty: made here. nullopt: it did not read them.
  virtual std::optional<std::string> OriginOf(const CacheKey& key, std::span<const std::byte> bytes) = 0;

 protected:
  ~KnowsOrigins() = default;
};

// nullopt also where `store` is null or knows no origins.
std::optional<std::string> OriginIn(BlobStore* store, const CacheKey& key, std::span<const std::byte> bytes);

// Whether bytes that were read in the store were made here. Stores that know no origins have nothing from elsewhere.
bool IsMadeHere(BlobStore* store, const CacheKey& key, std::span<const std::byte> bytes);

// A program without an origin gets that of its source (needed_source.h), if that is among the entries: whoever made the
// source decides what the program does. `Entry` has the members key, bytes and origin of a PutRequest.
template <typename Entry>
void PassOnOrigins(std::span<Entry> entries) {
  std::map<Fingerprint, std::string_view> of_sources;
  for (const Entry& entry : entries) {
    if (entry.key->kind() == BlobKind::kSource && !entry.origin.empty())
      of_sources.emplace(entry.key->digest(), entry.origin);
  }
  if (of_sources.empty()) return;
  for (Entry& entry : entries) {
    const auto source = entry.origin.empty() ? SourceNeededBy(*entry.key, entry.bytes) : std::nullopt;
    const auto known = source ? of_sources.find(source->digest()) : of_sources.end();
    if (known != of_sources.end()) entry.origin = known->second;
  }
}

// The requests, with the origin that `origin_of` knows where one has none, passed on to programs. `texts` holds these
// origins.
using FindOrigin = std::function<std::optional<std::string>(const CacheKey&, std::span<const std::byte>)>;
std::vector<PutRequest> WithOrigins(std::span<const PutRequest> requests, const FindOrigin& origin_of,
                                    std::deque<std::string>& texts);

}  // namespace hearth

#endif  // HEARTH_CACHE_ENTRY_ORIGIN_H_
