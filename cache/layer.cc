#include "cache/layer.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "cache/bundle_file.h"
#include "cache/bundle_file_store.h"
#include "cache/entry_origin.h"
#include "cache/entry_row.h"
#include "cache/signed_manifest.h"
#include "cache/sqlite_store.h"
#include "cache/trusted_path.h"
#include "core/base/error.h"
#include "core/base/sha256.h"
#include "core/base/text.h"
#include "hearth/version.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;

// Returns only entries of the manifest, and checks the bytes that the caller gets.
class SignedLayer final : public BlobStore, public KnowsOrigins {
 public:
  SignedLayer(std::unique_ptr<BlobStore> store, const SignedManifest& checked)
      : store_(std::move(store)), origin_(BundleOrigin(checked.signed_by)) {
    for (const ManifestEntry& entry : checked.manifest.entries) promised_.emplace(entry.digest, entry);
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

  std::optional<std::string> OriginOf(const CacheKey& key, std::span<const std::byte> bytes) override {
    const ManifestEntry* entry = Promised(key);
    const bool is_its = entry != nullptr && entry->size_bytes == bytes.size() && entry->blob_sha256 == Sha256Of(bytes);
    return is_its ? std::optional(origin_) : std::nullopt;
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
      warnings.push_back("a cache layer has entries that do not match its signed manifest: they are not used");
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
  const std::string origin_;
  std::map<Fingerprint, ManifestEntry> promised_;
  mutable std::mutex mutex_;  // guards the members below
  uint64_t broken_ = 0, broken_bytes_ = 0;
  bool has_told_ = false;
};

Status NobodyStandsBehind(const fs::path& bundle) {
  return Error(StatusCode::kIoError,
               "no trusted key has signed {}, and models would run with its entries: name the file of the keys that "
               "you trust (--cache-layer-keys), or trust such layers (--trust-cache-layers){}",
               bundle.string(), WhyNoSignatures());
}

// The manifest, if a trusted key signed it or no signature is needed, and it may still be used.
Result<SignedManifest> BelievedManifest(const BundleTexts& texts, const fs::path& bundle, const LayerRequest& request,
                                        bool needs_signature) {
  HEARTH_ASSIGN(SignedManifest checked, CheckTexts(texts, bundle.string(), request.trusted_keys));
  if (needs_signature && checked.signed_by.empty()) return NobodyStandsBehind(bundle);
  HEARTH_TRY(checked.manifest.CheckUsable(NowMs(), HEARTH_VERSION, request.latest_ms).Within(bundle.string()));
  return checked;
}

Result<std::unique_ptr<BlobStore>> OpenFileLayer(const LayerRequest& request) {
  HEARTH_ASSIGN(BundleFile file, BundleFile::Open(request.bundle));
  HEARTH_ASSIGN(const BundleTexts texts, file.ReadTexts());
  const fs::path path = file.path();
  const bool needs_signature = !request.is_trusted && !OnlyRootMayWrite(path);
  HEARTH_ASSIGN(const SignedManifest checked, BelievedManifest(texts, path, request, needs_signature));
  HEARTH_TRY(file.Locate(checked.manifest));
  return std::unique_ptr<BlobStore>(
      std::make_unique<SignedLayer>(std::make_unique<BundleFileStore>(std::move(file), checked.manifest), checked));
}

// Of a folder that needs no signature: its manifest if a trusted key has signed it all the same. Trust decides whether
// a signature is needed, not whether the signer is remembered: a revocation must find what the key signed. Such a
// folder may be a cache, without a manifest, and may have expired.
std::optional<SignedManifest> ManifestIfSigned(const fs::path& folder, const LayerRequest& request) {
  if (request.trusted_keys.empty()) return std::nullopt;
  const Result<BundleTexts> texts = ReadBundleTexts(folder);
  if (!texts.ok()) return std::nullopt;
  Result<SignedManifest> checked = CheckTexts(*texts, folder.string(), request.trusted_keys);
  if (!checked.ok() || checked->signed_by.empty()) return std::nullopt;
  return std::move(checked).value();
}

Result<std::unique_ptr<BlobStore>> OpenFolderLayer(const LayerRequest& request) {
  StoreOptions options;
  options.folder = request.bundle;
  options.read_only = options.immutable = true;
  options.waits = request.waits;
  HEARTH_ASSIGN(const fs::path folder, PrepareFolder(request.bundle, FolderUse::kReadOnlyLayer));
  if (request.is_trusted || OnlyRootMayWrite(folder)) {
    const std::optional<SignedManifest> checked = ManifestIfSigned(folder, request);
    HEARTH_ASSIGN(std::unique_ptr<BlobStore> store, SqliteStore::Open(std::move(options)));
    if (!checked) return store;
    return std::unique_ptr<BlobStore>(std::make_unique<SignedLayer>(std::move(store), *checked));
  }
  const Result<BundleTexts> texts = ReadBundleTexts(folder);
  if (texts.status().code() == StatusCode::kNotFound) return NobodyStandsBehind(folder);
  if (!texts.ok()) return texts.status();
  HEARTH_ASSIGN(const SignedManifest checked, BelievedManifest(*texts, folder, request, true));
  Result<std::unique_ptr<SqliteStore>> store = SqliteStore::Open(std::move(options));
  if (store.status().code() == StatusCode::kNotFound) return NoStoreInBundle(folder);
  if (!store.ok()) return store.status();
  return std::unique_ptr<BlobStore>(std::make_unique<SignedLayer>(std::move(store).value(), checked));
}

}  // namespace

Result<std::unique_ptr<BlobStore>> OpenLayer(const LayerRequest& request) {
  std::error_code error;
  const bool is_file = fs::symlink_status(request.bundle, error).type() == fs::file_type::regular;
  return is_file ? OpenFileLayer(request) : OpenFolderLayer(request);
}

}  // namespace hearth
