#include "tools/hearth/cache_filter_flags.h"

#include "cache/entry_row.h"
#include "core/base/error.h"
#include "core/base/fingerprint.h"
#include "hearth/device.h"
#include "tools/hearth/cache_text.h"

namespace hearth {
namespace {

std::vector<std::string> KindNames() {
  std::vector<std::string> names;
  for (int kind = 0; kind < kBlobKindCount; ++kind) names.emplace_back(BlobKindName(static_cast<BlobKind>(kind)));
  return names;
}

}  // namespace

void CacheFilterFlags::AddOptions(CLI::App& part) {
  part.add_option("--kind", filter_.kind, "Only entries of this kind")
      ->check(CLI::IsMember(KindNames()))
      ->type_name("KIND");
  part.add_option("--model", model_, "Only entries that this model asks for, on --device or on all devices")
      ->type_name("FILE");
  part.add_option("--device", filter_.device, "Only entries made for this device: opencl, or part of its name")
      ->type_name("D");
  part.add_option("--unused-for", unused_for_, "Only entries not used for that long: 30d, 12h, 45m, 10s")
      ->check(Age())
      ->type_name("AGE");
  part.add_option("--from", filter_.origin, "Only entries that were made here, or came from a bundle or a server")
      ->check(CLI::IsMember({"here", "bundle", "server"}))
      ->type_name("ORIGIN");
  part.add_option("--signed-by", filter_.signed_by, "Only entries that this public key has signed: its hex digits")
      ->type_name("KEY");
}

// Adds the digests of the entries that the model finds.
Status CacheFilterFlags::AddEntriesOfModel(const Cache& cache, std::vector<std::string>& digests) const {
  std::vector<std::string> devices{filter_.device};
  if (filter_.device.empty()) {
    devices.clear();
    for (const DeviceDescription& device : ListDevices()) {
      if (device.usable) devices.push_back(device.id);
    }
  }
  for (const std::string& device : devices) {
    SessionOptions options;
    options.device = device;
    HEARTH_ASSIGN(const CacheExplanation explanation, cache.Explain(model_, options));
    for (const CacheNeed& need : explanation.needs) {
      if (need.is_hit) digests.push_back(need.digest);
    }
  }
  return Status::Ok();
}

Result<CacheFilter> CacheFilterFlags::Filter(const Cache& cache) const {
  CacheFilter filter = filter_;
  if (!unused_for_.empty()) {
    HEARTH_ASSIGN(filter.unused_since_ms, UnusedSinceMs(unused_for_));
  }
  if (!model_.empty()) {
    HEARTH_TRY(AddEntriesOfModel(cache, filter.digests.emplace()));
    filter.device.clear();  // entries that devices share name no device
  }
  filter.device = filter.device.substr(0, filter.device.find(':'));  // keys have "opencl" for "opencl:0"
  if (filter.device.empty() && !filter_.device.empty() && model_.empty()) {
    return Error(StatusCode::kInvalidArgument, "--device {}: there is no device's name before the ':'", filter_.device);
  }
  return filter;
}

Result<int64_t> UnusedSinceMs(const std::string& age) {
  HEARTH_ASSIGN(const int64_t age_ms, ParseAgeMs(age));
  return NowMs() - age_ms;
}

}  // namespace hearth
