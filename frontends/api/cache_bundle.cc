// The part of hearth/cache.h that moves entries between machines.
#include <algorithm>
#include <filesystem>
#include <limits>
#include <utility>

#include "cache/desk/bundle.h"
#include "cache/desk/reports.h"
#include "cache/files/folder.h"
#include "cache/sources/bundle_reader.h"
#include "cache/store/entry_row.h"
#include "cache/trust/manifest.h"
#include "core/base/contains.h"
#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/base/sha256.h"
#include "core/base/text.h"
#include "hearth/cache.h"
#include "hearth/version.h"
#include "runtime/devices/device_choice.h"

namespace hearth {
namespace {

// This machine's devices as keys name them. Opens every device.
std::vector<CacheDevice> DevicesHere() {
  std::vector<CacheDevice> devices;
  for (const ListedDevice& listed : ListAllDevices()) {
    if (listed.backend->is_host() || !listed.candidate.usable) continue;
    const Result<std::unique_ptr<Device>> device = listed.backend->open(listed.candidate);
    if (!device.ok()) continue;
    const DeviceInfo& info = (*device)->info();
    devices.push_back({info.backend, info.name, info.driver_version, info.uuid});
  }
  return devices;
}

// The time that https://reproducible-builds.org/specs/source-date-epoch defines.
Result<int64_t> ReproducibleNowMs() {
  const std::string_view text = EnvironmentVariable("SOURCE_DATE_EPOCH");
  if (text.empty()) return NowMs();
  int64_t seconds = 0;
  constexpr int64_t kMost = int64_t{1} << 40;
  if (NumberFrom(text, seconds) && seconds >= 0 && seconds < kMost) return seconds * 1000;
  return Error(StatusCode::kInvalidArgument, "SOURCE_DATE_EPOCH is '{}', which is not a number of seconds since 1970",
               text);
}

}  // namespace

Result<BundleExport> Cache::Export(const std::string& bundle, const ExportOptions& options) const {
  ExportRequest request;
  request.store = folder_;
  request.bundle = bundle;
  request.filter = options.filter;
  request.made_by = HEARTH_VERSION;
  request.least_version = options.least_version;
  if (!options.least_version.empty() && !VersionNumbers(options.least_version)) {
    return Error(StatusCode::kInvalidArgument, "'{}' is not a version like {}", options.least_version, HEARTH_VERSION);
  }
  if (options.valid_for_ms < 0)
    return Error(StatusCode::kInvalidArgument, "a bundle can't be valid for a negative time");
  if (options.valid_for_ms != 0) {
    HEARTH_ASSIGN(const int64_t now_ms, ReproducibleNowMs());
    if (now_ms > 0 && options.valid_for_ms > std::numeric_limits<int64_t>::max() - now_ms)
      return Error(StatusCode::kInvalidArgument, "a bundle can't be valid for {} ms: no clock reaches its end",
                   options.valid_for_ms);
    request.made_ms = now_ms;
    request.expires_ms = now_ms + options.valid_for_ms;
  }
  if (!options.sign_with.empty()) {
    HEARTH_ASSIGN(request.sign_with, ReadSigningKey(options.sign_with));
  }
  return ExportBundle(request);
}

Result<BundleInspection> Cache::Inspect(const std::string& bundle, const std::string& trusted_keys) {
  std::vector<PublicKey> keys;
  if (!trusted_keys.empty()) {
    HEARTH_ASSIGN(keys, ReadPublicKeys(trusted_keys));
  }
  HEARTH_ASSIGN(BundleReader reader, BundleReader::Open(bundle, keys));
  const Manifest& manifest = reader.manifest();
  BundleInspection found;
  found.bundle = bundle;
  found.made_by = manifest.made_by;
  found.expires_ms = manifest.expires_ms;
  found.least_version = manifest.least_version;
  found.devices = manifest.devices;
  found.signed_by = reader.signed_by();
  found.key_id = reader.key_id();
  found.manifest_sha256 = HexOf(reader.manifest_sha256());
  found.refusal = manifest.CheckUsable(NowMs(), HEARTH_VERSION).message();
  for (size_t k = 0; k < manifest.entries.size(); ++k) {
    const ManifestEntry& entry = manifest.entries[k];
    CacheKindStats& kind = found.kinds[std::string(BlobKindName(entry.kind))];
    ++kind.entries;
    ++found.entries;
    const Result<uint64_t> blob_bytes = reader.Check(k);
    if (!blob_bytes.ok()) {
      found.damages.push_back({entry.digest.ToHex(), blob_bytes.status().message()});
      continue;
    }
    kind.blob_bytes += *blob_bytes;
    found.blob_bytes += *blob_bytes;
  }
  return found;
}

Result<BundleImport> Cache::Import(const std::string& bundle, const ImportOptions& options) const {
  ImportRequest request;
  request.bundle = bundle;
  request.store = folder_;
  request.is_trusted = options.is_trusted;
  request.max_bytes = options.max_bytes;
  if (request.max_bytes == 0) {
    const Result<uint64_t> limit = DefaultCacheMaxBytes();
    if (!limit.ok()) return limit.status().Within("HEARTH_CACHE_MAX_SIZE");
    request.max_bytes = *limit;
  }
  if (!options.trusted_keys.empty()) {
    // Read before the keys: a key revoked from here on is noticed. A damaged store has no list and is replaced.
    if (auto revocations = ListRevocations(folder_); revocations.ok()) {
      request.revocations = std::move(revocations).value();
    }
    HEARTH_ASSIGN(request.trusted_keys, ReadPublicKeys(options.trusted_keys));
  }
  if (!options.any_device) {
    request.is_wanted = [here = DevicesHere()](const CacheDevice& device) { return Contains(here, device); };
  }
  HEARTH_ASSIGN(BundleImport imported, ImportBundle(request));
  if (!imported.signed_by.empty() && request.revocations) {
    const auto signer =
        std::ranges::find(request.trusted_keys, imported.signed_by, [](const PublicKey& key) { return HexOf(key); });
    if (signer != request.trusted_keys.end()) {
      for (std::string& told : TellRevoked(*request.revocations, {&*signer, 1}, options.trusted_keys))
        imported.warnings.push_back(std::move(told));
    }
  }
  return imported;
}

Result<std::string> Cache::MakeSigningKey(const std::string& file) {
  HEARTH_ASSIGN(const PublicKey key, hearth::MakeSigningKey(file));
  return HexOf(key);
}

}  // namespace hearth
