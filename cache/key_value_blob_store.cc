#include "cache/key_value_blob_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "cache/entry_row.h"
#include "core/base/byte_reader.h"
#include "core/base/text.h"

namespace hearth {
namespace {

constexpr std::string_view kMagic = "HRV1";

// Copies `part` to the start of `room` and advances `room`.
void Place(std::span<std::byte>& room, std::span<const std::byte> part) {
  if (!part.empty()) std::memcpy(room.data(), part.data(), part.size());
  room = room.subspan(part.size());
}

bool Equal(std::span<const std::byte> bytes, std::string_view text) {
  return std::ranges::equal(bytes, BytesOf(text));
}

}  // namespace

std::string NameInKeyValueStore(const CacheKey& key) {
  return fmt::format("{}/{}", BlobKindName(key.kind()), key.digest().ToHex());
}

std::vector<std::byte> MakeEnvelope(const PutRequest& request) {
  const std::string& material = request.key->material();
  const uint64_t material_bytes = material.size();
  const Fingerprint checksum = FingerprintOf(request.bytes);
  std::vector<std::byte> envelope(kMagic.size() + sizeof(material_bytes) + material.size() + sizeof(request.cost_ms) +
                                  checksum.bytes.size() + request.bytes.size());
  std::span<std::byte> room(envelope);
  Place(room, BytesOf(kMagic));
  Place(room, std::as_bytes(std::span(&material_bytes, 1)));
  Place(room, BytesOf(material));
  Place(room, std::as_bytes(std::span(&request.cost_ms, 1)));
  Place(room, std::as_bytes(std::span(checksum.bytes)));
  Place(room, request.bytes);
  return envelope;
}

std::optional<OpenedEnvelope> OpenEnvelope(const CacheKey& key, std::span<const std::byte> envelope) {
  ByteReader reader(envelope);
  if (!Equal(reader.Bytes(kMagic.size()), kMagic)) return std::nullopt;
  if (!Equal(reader.Bytes(reader.Number<uint64_t>()), key.material())) return std::nullopt;
  const double cost_ms = BoundedCostMs(reader.Double());
  const std::span<const std::byte> checksum = reader.Bytes(sizeof(Fingerprint::bytes));
  const Fingerprint fingerprint = FingerprintOf(reader.rest());
  if (reader.failed() || !std::ranges::equal(checksum, std::as_bytes(std::span(fingerprint.bytes))))
    return std::nullopt;
  return OpenedEnvelope{reader.rest(), cost_ms, fingerprint};
}

bool KeyValueBlobStore::Get(const CacheKey& key, const Destination& destination) {
  {
    const std::scoped_lock lock(mutex_);
    if (hidden_.contains(key.digest())) {
      ++counters_.misses;
      return false;
    }
  }
  const std::optional<std::vector<std::byte>> envelope = values_.Read(NameInKeyValueStore(key));
  const std::optional<OpenedEnvelope> opened = envelope ? OpenEnvelope(key, *envelope) : std::nullopt;
  std::span<std::byte> bytes;
  bool is_hit = false;
  if (opened) {
    bytes = destination(opened->blob.size());
    is_hit = bytes.size() == opened->blob.size();
    if (is_hit) std::ranges::copy(opened->blob, bytes.begin());
  }
  const std::scoped_lock lock(mutex_);
  if (!envelope || envelope->empty()) {
    ++counters_.misses;
  } else if (!is_hit) {
    ++counters_.rejected;
    warnings_.Add("damaged", fmt::format("the store given for the cache returned a damaged {}, which is rebuilt",
                                         BlobKindName(key.kind())));
  } else {
    read_.Note(key.digest(), opened->checksum, "store");
    ++counters_.hits;
    counters_.bytes_read += bytes.size();
    counters_.milliseconds_saved += opened->cost_ms;
  }
  return is_hit;
}

void KeyValueBlobStore::Put(std::span<const PutRequest> requests) {
  for (const PutRequest& request : requests) {
    const bool is_kept = values_.Write(NameInKeyValueStore(*request.key), MakeEnvelope(request));
    const std::scoped_lock lock(mutex_);
    if (is_kept) {
      hidden_.erase(request.key->digest());
      counters_.bytes_written += request.bytes.size();
    } else {
      ++counters_.put_errors;
      warnings_.Add("writing", "the store given for the cache did not accept an entry");
    }
  }
}

std::optional<std::string> KeyValueBlobStore::OriginOf(const CacheKey& key, std::span<const std::byte> bytes) {
  const std::scoped_lock lock(mutex_);
  const auto origin = read_.Find(key.digest(), FingerprintOf(bytes));
  return origin ? std::optional<std::string>(*origin) : std::nullopt;
}

void KeyValueBlobStore::Reject(const CacheKey& key, std::string_view reason) {
  values_.Write(NameInKeyValueStore(key), {});
  const std::scoped_lock lock(mutex_);
  hidden_.insert(key.digest());
  ++counters_.rejected;
  warnings_.Add("reject",
                fmt::format("a cached {} could not be used and is rebuilt: {}", BlobKindName(key.kind()), reason));
}

StoreCounters KeyValueBlobStore::counters() const {
  const std::scoped_lock lock(mutex_);
  return counters_;
}

std::vector<std::string> KeyValueBlobStore::TakeWarnings() {
  const std::scoped_lock lock(mutex_);
  return warnings_.Take();
}

}  // namespace hearth
