#include "cache/sources/layer.h"

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "cache/files/trusted_path.h"
#include "cache/sources/bundle_file.h"
#include "cache/store/entry_row.h"
#include "cache/store/revocations.h"
#include "cache/store/sqlite_store.h"
#include "cache/trust/manifest.h"
#include "core/base/error.h"
#include "core/base/sha256.h"
#include "hearth/version.h"

namespace hearth {
namespace {

namespace fs = std::filesystem;

// A bundle's file, read in place. Checks the bytes that the caller gets against the manifest.
class BundleSource final : public EntrySource {
 public:
  // Precondition: `file` has located the entries of the manifest.
  BundleSource(BundleFile file, SignedManifest checked)
      : file_(std::move(file)), checked_(std::move(checked)), origin_(BundleOrigin(checked_.signed_by)) {
    const std::vector<ManifestEntry>& entries = checked_.manifest.entries;
    for (size_t k = 0; k < entries.size(); ++k) numbers_.emplace(entries[k].digest, k);
  }

  Answer Get(const CacheKey& key, const Destination& destination, FoundEntry& found) override {
    const auto place = numbers_.find(key.digest());
    if (place == numbers_.end() || checked_.manifest.entries[place->second].kind != key.kind()) return Answer::kMiss;
    return Read(place->second, key, destination, found);
  }

  bool Has(const CacheKey& key) override { return numbers_.contains(key.digest()); }

  void ForEach(const CacheKey& common, const Visitor& visit) override {
    for (const auto& [digest, number] : numbers_) {
      if (checked_.manifest.entries[number].kind != common.kind()) continue;
      const Result<BundleFile::Head> head = file_.ReadHead(number);
      if (!head.ok()) Warn(head.status().message());
      if (!head.ok() || !head->envelope.key.material().starts_with(common.material())) continue;
      std::vector<std::byte> bytes;
      const auto room = [&bytes](uint64_t size_bytes) {
        bytes.resize(size_bytes);
        return std::span<std::byte>(bytes);
      };
      FoundEntry found;
      if (Read(number, head->envelope.key, room, found) == Answer::kHit) visit(head->envelope.key, found);
    }
  }

  bool Put(std::span<const NewEntry>, std::span<PutResult>, double) override { return true; }

  std::vector<std::string> TakeWarnings() override {
    const std::scoped_lock lock(mutex_);
    return warnings_.Take();
  }

 private:
  // The whole envelope is checked, the blob where the caller gets it.
  Answer Read(size_t number, const CacheKey& key, const Destination& destination, FoundEntry& found) {
    const ManifestEntry& promised = checked_.manifest.entries[number];
    found.trouble = {};
    const Result<BundleFile::Head> head = file_.ReadHead(number);
    if (!head.ok()) {
      Warn(head.status().message());
      return Answer::kDamaged;
    }
    const EnvelopeHead& envelope = head->envelope;
    if (envelope.key.digest() != promised.digest) return NotAsSigned();
    if (envelope.key.material() != key.material()) return Answer::kMiss;
    const std::span<std::byte> bytes = destination(promised.size_bytes - head->bytes.size());
    if (bytes.size() != promised.size_bytes - head->bytes.size()) return Answer::kDamaged;
    const Status status = file_.ReadEntry(number, head->bytes.size(), bytes);
    Sha256 sha256;
    sha256.Add(head->bytes);
    sha256.Add(bytes);
    if (status.ok() && sha256.Finish() == promised.sha256) {
      found = {bytes, FingerprintOf(bytes), envelope.cost_ms, origin_};
      return Answer::kHit;
    }
    if (status.ok()) return NotAsSigned();
    Warn(status.message());
    return Answer::kDamaged;
  }

  Answer NotAsSigned() {
    Warn("a cache layer has entries that do not match its signed manifest: they are not used");
    return Answer::kDamaged;
  }

  void Warn(const std::string& text) {
    const std::scoped_lock lock(mutex_);
    if (!text.empty()) warnings_.Add("damaged", text);
  }

  const BundleFile file_;
  const SignedManifest checked_;
  const std::string origin_;
  std::map<Fingerprint, size_t> numbers_;  // of the manifest's entries, by digest
  std::mutex mutex_;                       // guards the warnings
  Warnings warnings_;
};

Status NotTrusted(const fs::path& layer) {
  return Error(StatusCode::kIoError,
               "no trusted key has signed {}, and models would run with its entries: name the file of the keys that "
               "you trust (--cache-layer-keys), or trust such layers (--trust-cache-layers){}",
               layer.string(), WhyNoSignatures());
}

Result<std::unique_ptr<EntrySource>> OpenBundle(const LayerRequest& request) {
  HEARTH_ASSIGN(BundleFile file, BundleFile::Open(request.path));
  HEARTH_ASSIGN(const BundleTexts texts, file.ReadTexts());
  const fs::path path = file.path();
  HEARTH_ASSIGN(SignedManifest checked, CheckTexts(texts, path.string(), request.trusted_keys));
  const bool is_trusted = request.is_trusted || OnlyRootMayWrite(path) || !checked.signed_by.empty();
  if (!is_trusted) return NotTrusted(path);
  HEARTH_TRY(checked.manifest.CheckUsable(NowMs(), HEARTH_VERSION, request.latest_ms).Within(path.string()));
  HEARTH_TRY(file.Locate(checked.manifest));
  return std::unique_ptr<EntrySource>(std::make_unique<BundleSource>(std::move(file), std::move(checked)));
}

Result<std::unique_ptr<EntrySource>> OpenCacheFolder(const LayerRequest& request) {
  HEARTH_ASSIGN(const fs::path folder, PrepareFolder(request.path, FolderUse::kReadOnlyLayer));
  HEARTH_TRY(CheckHasNoManifest(folder));
  if (!request.is_trusted && !OnlyRootMayWrite(folder)) return NotTrusted(folder);
  StoreOptions options;
  options.folder = request.path;
  options.read_only = options.immutable = true;
  options.waits = request.waits;
  HEARTH_ASSIGN(std::unique_ptr<SqliteStore> store, SqliteStore::Open(std::move(options)));
  return std::unique_ptr<EntrySource>(std::move(store));
}

}  // namespace

Result<std::unique_ptr<EntrySource>> OpenLayer(const LayerRequest& request) {
  std::error_code error;
  const bool is_file = fs::symlink_status(request.path, error).type() == fs::file_type::regular;
  return is_file ? OpenBundle(request) : OpenCacheFolder(request);
}

}  // namespace hearth
