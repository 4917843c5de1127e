#include "cache/layer.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "cache/entry_row.h"
#include "cache/signed_manifest.h"
#include "cache/sqlite_store.h"
#include "cache/trusted_path.h"
#include "core/base/sha256.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;

// Hands out nothing but what the manifest promises, checked over the very bytes that the caller gets.
class SignedLayer final : public BlobStore {
 public:
  SignedLayer(std::unique_ptr<BlobStore> store, const Manifest& manifest) : store_(std::move(store)) {
    for (const ManifestEntry& entry : manifest.entries) promised_.emplace(entry.digest, entry);
  }

  using BlobStore::Get;
  bool Get(const CacheKey& key, const Destination& destination) override {
    const ManifestEntry* promised = Promised(key);
    if (promised == nullptr) return false;
    const ManifestEntry& entry = *promised;
    std::span<const std::byte> bytes;
    const bool is_hit = store_->Get(key, [&](uint64_t size_bytes) {
      const std::span<std::byte> room =
          size_bytes == entry.size_bytes ? destination(size_bytes) : std::span<std::byte>();
      bytes = room;
      return room;
    });
    if (!is_hit) return false;
    if (Sha256Of(bytes) == entry.blob_sha256) return true;
    const std::scoped_lock lock(mutex_);
    ++broken_;
    broken_bytes_ += bytes.size();
    return false;
  }

  void ForEach(const CacheKey& common, const Visitor& visit) override {
    store_->ForEach(common, [&](const CacheKey& key, std::span<const std::byte> bytes) {
      if (const ManifestEntry* entry = Promised(key); entry != nullptr && Sha256Of(bytes) == entry->blob_sha256) {
        visit(key, bytes);
      }
    });
  }

  void Put(std::span<const PutRequest>) override {}
  void Reject(const CacheKey& key, std::string_view reason) override { store_->Reject(key, reason); }
  void BeginUse(const CacheKey& key) override { store_->BeginUse(key); }
  void EndUse(const CacheKey& key) override { store_->EndUse(key); }

  StoreCounters counters() const override {
    StoreCounters counters = store_->counters();
    const std::scoped_lock lock(mutex_);
    counters.hits -= std::min(counters.hits, broken_);
    counters.bytes_read -= std::min(counters.bytes_read, broken_bytes_);
    counters.rejected += broken_;
    return counters;
  }

  std::vector<std::string> TakeWarnings() override {
    std::vector<std::string> warnings = store_->TakeWarnings();
    const std::scoped_lock lock(mutex_);
    if (broken_ > 0 && !std::exchange(has_told_, true)) {
      warnings.push_back(
          "a cache layer holds entries that are not what its signed manifest promises: they are not used");
    }
    return warnings;
  }

 private:
  const ManifestEntry* Promised(const CacheKey& key) const {
    const auto found = promised_.find(key.digest());
    if (found == promised_.end() || found->second.kind != key.kind()) return nullptr;
    return found->second.material_sha256 == Sha256Of(BytesOf(key.material())) ? &found->second : nullptr;
  }

  std::unique_ptr<BlobStore> store_;
  std::map<Fingerprint, ManifestEntry> promised_;
  mutable std::mutex mutex_;  // guards what follows
  uint64_t broken_ = 0, broken_bytes_ = 0;
  bool has_told_ = false;
};

}  // namespace

Result<std::unique_ptr<BlobStore>> OpenLayer(const LayerRequest& request) {
  StoreOptions options;
  options.folder = request.folder;
  options.read_only = options.immutable = true;
  options.waits = request.waits;
  HEARTH_ASSIGN(const fs::path folder, PrepareFolder(request.folder, FolderUse::kReadOnlyLayer));
  if (request.is_trusted || OnlyRootMayWrite(folder)) {
    HEARTH_ASSIGN(std::unique_ptr<BlobStore> store, SqliteStore::Open(std::move(options)));
    return store;
  }
  Result<SignedManifest> bundle = ReadSignedManifest(folder, request.trusted_keys);
  if (!bundle.ok() && bundle.status().code() != StatusCode::kNotFound) return bundle.status();
  if (!bundle.ok() || bundle->signed_by.empty()) {
    return Error(StatusCode::kIoError,
                 "no trusted key has signed {}, and models would run with what it holds: name the file of the keys you "
                 "trust, or say that you trust such layers (--cache-layer-keys, --trust-cache-layers){}",
                 folder.string(), WhyNoSignatures());
  }
  HEARTH_ASSIGN(std::unique_ptr<BlobStore> store, SqliteStore::Open(std::move(options)));
  return std::unique_ptr<BlobStore>(std::make_unique<SignedLayer>(std::move(store), bundle->manifest));
}

}  // namespace hearth
