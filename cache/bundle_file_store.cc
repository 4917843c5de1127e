#include "cache/bundle_file_store.h"

#include <utility>

#include "cache/entry_row.h"

namespace hearth {

BundleFileStore::BundleFileStore(BundleFile file, const Manifest& manifest) : file_(std::move(file)) {
  for (size_t k = 0; k < manifest.entries.size(); ++k) {
    const ManifestEntry& entry = manifest.entries[k];
    entries_.emplace(entry.digest, Entry{k, entry.kind, entry.size_bytes, entry.cost_ms});
  }
}

bool BundleFileStore::IsHidden(const Fingerprint& digest) const {
  const std::scoped_lock lock(mutex_);
  return hidden_.contains(digest);
}

bool BundleFileStore::Read(const Fingerprint& digest, const Entry& entry, std::span<std::byte> bytes) {
  const Status status =
      bytes.size() == entry.size_bytes ? file_.ReadBlob(entry.number, 0, bytes) : Status(StatusCode::kIoError, "");
  if (!status.ok()) Warn(status);
  const std::scoped_lock lock(mutex_);
  if (!status.ok()) {
    ++counters_.rejected;
    hidden_.insert(digest);
    return false;
  }
  ++counters_.hits;
  counters_.bytes_read += bytes.size();
  counters_.milliseconds_saved += entry.cost_ms;
  return true;
}

bool BundleFileStore::Get(const CacheKey& key, const Destination& destination) {
  const Fingerprint digest = key.digest();
  const auto found = entries_.find(digest);
  if (found == entries_.end() || found->second.kind != key.kind() || IsHidden(digest)) return false;
  return Read(digest, found->second, destination(found->second.size_bytes));
}

std::optional<CacheKey> BundleFileStore::KeyOf(const Entry& entry) {
  const Result<std::string> material = file_.ReadMaterial(entry.number);
  if (!material.ok()) {
    Warn(material.status());
    return std::nullopt;
  }
  return KeyFromMaterial(entry.kind, *material);
}

void BundleFileStore::ForEach(const CacheKey& common, const Visitor& visit) {
  for (const auto& [digest, entry] : entries_) {
    if (entry.kind != common.kind() || IsHidden(digest)) continue;
    const std::optional<CacheKey> key = KeyOf(entry);
    if (!key || key->digest() != digest || !key->material().starts_with(common.material())) continue;
    std::vector<std::byte> bytes(entry.size_bytes);
    if (Read(digest, entry, bytes)) visit(*key, bytes);
  }
}

void BundleFileStore::Reject(const CacheKey& key, std::string_view) {
  const std::scoped_lock lock(mutex_);
  ++counters_.rejected;
  hidden_.insert(key.digest());
}

StoreCounters BundleFileStore::counters() const {
  const std::scoped_lock lock(mutex_);
  return counters_;
}

void BundleFileStore::Warn(const Status& status) {
  const std::scoped_lock lock(mutex_);
  if (warning_.empty()) warning_ = status.message();
}

std::vector<std::string> BundleFileStore::TakeWarnings() {
  const std::scoped_lock lock(mutex_);
  if (warning_.empty() || std::exchange(has_warned_, true)) return {};
  return {"cache layer: " + warning_};
}

}  // namespace hearth
