// The part of hearth/cache.h that moves entries between machines.
#include <algorithm>

#include "cache/bundle.h"
#include "cache/folder.h"
#include "cache/manifest.h"
#include "core/base/error.h"
#include "core/base/sha256.h"
#include "frontends/engine/device_choice.h"
#include "hearth/cache.h"
#include "hearth/version.h"

namespace hearth {
namespace {

// What keys made on this machine would name; opens every device for it.
std::vector<CacheDevice> DevicesHere() {
  std::vector<CacheDevice> devices;
  for (const ListedDevice& listed : ListAllDevices()) {
    if (listed.backend == nullptr || !listed.candidate.usable) continue;
    const Result<std::unique_ptr<Device>> device = listed.backend->open(listed.candidate);
    if (!device.ok()) continue;
    const DeviceInfo& info = (*device)->info();
    devices.push_back({info.backend, info.name, info.driver_version, info.uuid});
  }
  return devices;
}

}  // namespace

Result<BundleExport> Cache::Export(const std::string& folder, const ExportOptions& options) const {
  ExportRequest request;
  request.store = folder_;
  request.bundle = folder;
  request.filter = options.filter;
  request.made_by = HEARTH_VERSION;
  request.least_version = options.least_version;
  if (!options.least_version.empty() && !VersionNumbers(options.least_version)) {
    return Error(StatusCode::kInvalidArgument, "'{}' is not a version like {}", options.least_version, HEARTH_VERSION);
  }
  if (options.valid_for_ms < 0)
    return Error(StatusCode::kInvalidArgument, "a bundle can't be valid for less than no time");
  request.valid_for_ms = options.valid_for_ms;
  if (!options.sign_with.empty()) {
    HEARTH_ASSIGN(request.sign_with, ReadSigningKey(options.sign_with));
  }
  return ExportBundle(request);
}

Result<BundleImport> Cache::Import(const std::string& folder, const ImportOptions& options) const {
  ImportRequest request;
  request.bundle = folder;
  request.store = folder_;
  request.is_trusted = options.is_trusted;
  request.max_bytes = options.max_bytes;
  if (request.max_bytes == 0) {
    HEARTH_ASSIGN(request.max_bytes, DefaultCacheMaxBytes());
  }
  if (!options.trusted_keys.empty()) {
    HEARTH_ASSIGN(request.trusted_keys, ReadPublicKeys(options.trusted_keys));
  }
  if (!options.any_device) {
    request.is_wanted = [here = DevicesHere()](const CacheDevice& device) {
      return std::ranges::find(here, device) != here.end();
    };
  }
  return ImportBundle(request);
}

Result<std::string> Cache::MakeSigningKey(const std::string& file) {
  HEARTH_ASSIGN(const PublicKey key, hearth::MakeSigningKey(file));
  return HexOf(key);
}

}  // namespace hearth
