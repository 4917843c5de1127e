#include "tools/hearth/cache_filter_flags.h"

#include <optional>
#include <set>

#include "cache/desk/reports.h"
#include "cache/store/entry_filter.h"
#include "cache/store/entry_row.h"
#include "core/base/error.h"
#include "core/store/cache_key.h"
#include "tools/hearth/cache_text.h"
#include "tools/hearth/device_listing.h"
#include "tools/hearth/session_flags.h"
#include "tools/hearth/verb.h"

namespace hearth {
namespace {

std::vector<std::string> KindNames() {
  std::vector<std::string> names;
  for (int kind = 0; kind < kBlobKindCount; ++kind) names.emplace_back(BlobKindName(static_cast<BlobKind>(kind)));
  names.emplace_back("probe");  // all kinds whose names begin with it
  return names;
}

// The device that an entry was made for: its backend, name and driver. Empty if devices share the entry.
std::string MakerDeviceOf(const CacheKeyFields& fields) {
  const std::string_view device = ValueOf(fields, "device");
  return device.empty() ? "" : fmt::format("{}\n{}\n{}", ValueOf(fields, "backend"), device, ValueOf(fields, "driver"));
}

// Adds the entries that the model's sessions used, whatever their options were. If `devices` were named, only theirs:
// entries that devices share are then left to the look-up.
Status AddUsedEntries(const Cache& cache, const std::string& fingerprint,
                      const std::optional<std::set<std::string>>& devices, std::vector<std::string>& digests) {
  HEARTH_ASSIGN(const std::vector<ModelUses> models, ListUses(cache.folder()));
  for (const ModelUses& uses : models) {
    if (uses.model.fingerprint != fingerprint) continue;
    CacheFilter of_model;
    of_model.digests.emplace();
    for (const Fingerprint& digest : uses.digests) of_model.digests->push_back(digest.ToHex());
    HEARTH_ASSIGN(const std::vector<CacheEntry> entries, cache.List(of_model));
    for (const CacheEntry& entry : entries) {
      if (!devices || devices->contains(MakerDeviceOf(entry.fields))) digests.push_back(entry.digest);
    }
  }
  return Status::Ok();
}

}  // namespace

std::vector<CLI::Option*> CacheFilterFlags::AddOptions(CLI::App& part) {
  CLI::Option* model =
      part.add_option("--model", model_, "Only entries that this model asks for, on --device or on all devices")
          ->type_name("FILE");
  return {
      model,
      AddSimulateOption(part, simulate_)->needs(model),
      part.add_option("--kind", filter_.kind, "Only entries of this kind")
          ->check(CLI::IsMember(KindNames()))
          ->type_name("KIND"),
      part.add_option("--device", filter_.device, "Only entries made for this device: opencl, or part of its name")
          ->type_name("D"),
      part.add_option("--unused-for", unused_for_, "Only entries not used for that long: 30d, 12h, 45m, 10s")
          ->check(Age())
          ->type_name("AGE"),
      part.add_option("--from", filter_.origin, "Only entries that were made here, or came from a bundle or a server")
          ->check(CLI::IsMember({"here", "bundle", "server"}))
          ->type_name("ORIGIN"),
      part.add_option("--signed-by", filter_.signed_by, "Only entries that this public key has signed: its hex digits")
          ->check(Passes([](std::string_view key) { return CheckedFilter({.signed_by = std::string(key)}).status(); }))
          ->type_name("KEY")};
}

// Adds the digests of the entries that the model finds, or has used.
Status CacheFilterFlags::AddEntriesOfModel(const Cache& cache, std::vector<std::string>& digests) const {
  std::vector<std::string> devices{filter_.device};
  if (filter_.device.empty()) {
    devices.clear();
    HEARTH_ASSIGN(const std::vector<DeviceDescription> listed, ListDevicesAs(simulate_));
    for (const DeviceDescription& device : listed) {
      if (device.usable) devices.push_back(device.id);
    }
  }
  std::string fingerprint;
  std::set<std::string> named;
  for (const std::string& device : devices) {
    SessionOptions options;
    options.device = device;
    options.simulate = simulate_;
    HEARTH_ASSIGN(const CacheExplanation explanation, cache.Explain(model_, options));
    for (const CacheNeed& need : explanation.needs) {
      if (need.is_hit) digests.push_back(need.digest);
      if (!MakerDeviceOf(need.fields).empty()) named.insert(MakerDeviceOf(need.fields));
    }
    fingerprint = explanation.model_fingerprint;
  }
  const bool is_of_any = filter_.device.empty() && simulate_.empty();
  return AddUsedEntries(cache, fingerprint, is_of_any ? std::nullopt : std::optional(named), digests);
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
