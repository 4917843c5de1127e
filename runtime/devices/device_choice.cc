#include "runtime/devices/device_choice.h"

#include <algorithm>
#include <charconv>

#include "backends/cpu/xnnpack_nodes.h"
#include "core/base/contains.h"
#include "core/base/error.h"
#include "core/device/device_profiles.h"
#include "runtime/devices/driver_watch.h"

namespace hearth {
namespace {

using Rows = std::span<const BackendDef>;

void AppendDevicesOf(const BackendDef& backend, std::vector<ListedDevice>& list) {
  int usable_count = 0;
  for (DeviceCandidate& candidate : EnumerateUnlessForked(backend)) {
    const std::string name(backend.name);
    const bool is_counted = candidate.usable && !backend.is_host();
    const std::string id = is_counted ? fmt::format("{}:{}", name, usable_count++) : name;
    list.push_back({id, &backend, std::move(candidate)});
  }
}

// The backend of a name like "opencl", "opencl:1" or "vulkan:radeon". `rest` becomes the text after the colon.
const BackendDef* BackendIn(const std::string& name, Rows backends, std::string& rest) {
  const size_t colon = std::min(name.find(':'), name.size());
  rest = name.substr(std::min(colon + 1, name.size()));
  const auto found =
      std::ranges::find_if(backends, [&](const BackendDef& row) { return row.name == name.substr(0, colon); });
  return found == backends.end() ? nullptr : &*found;
}

bool IsNumber(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

std::string OpenedUuid(const ListedDevice& listed) {
  const Result<std::unique_ptr<Device>> device = listed.backend->open(listed.candidate);
  return device.ok() ? (*device)->info().uuid : "";
}

// `rest` is empty (the first usable device), a number among the usable ones, or a name.
Result<ListedDevice> OfBackend(const std::string& wanted, const BackendDef& backend, const std::string& rest) {
  std::vector<ListedDevice> all;
  AppendDevicesOf(backend, all);
  std::vector<ListedDevice> usable;
  std::copy_if(all.begin(), all.end(), std::back_inserter(usable),
               [](const ListedDevice& d) { return d.candidate.usable; });
  if (usable.empty()) {
    return Error(StatusCode::kUnavailable, "device '{}' is not usable: {}", wanted, UnusableDevicesText(all));
  }
  if (!rest.empty() && !IsNumber(rest)) return DeviceByName(rest, all, OpenedUuid);
  size_t index = 0;
  const bool fits = rest.empty() || std::from_chars(rest.data(), rest.data() + rest.size(), index).ec == std::errc();
  if (fits && index < usable.size()) return usable[index];
  return Error(StatusCode::kUnavailable, "device '{}' does not exist: the usable devices of {} are {}", wanted,
               backend.name, UsableDevicesText(usable));
}

Result<std::vector<ListedDevice>> Gpus(Rows backends) {
  const std::vector<ListedDevice> all = ListAllDevices(backends);
  std::vector<ListedDevice> gpus = HardwareGpus(all);
  if (!gpus.empty()) return gpus;
  return Error(StatusCode::kUnavailable,
               "device 'gpu': no hardware GPU is usable; there is {}; `hearth devices` says why others are not",
               UsableDevicesText(all));
}

// Opens `listed` as the device of `profile`. kInvalidArgument if the profile's device lacks the driver's API.
Result<OpenedDevice> OpenAs(ListedDevice listed, const DeviceProfile& profile) {
  if (listed.backend->is_host()) {
    return Error(StatusCode::kInvalidArgument, "the CPU can't simulate {}: name a driver (--device vulkan)",
                 profile.title);
  }
  listed.candidate.profile = &profile;
  OpenedDevice opened;
  HEARTH_ASSIGN(opened.device, listed.backend->open(listed.candidate));
  opened.info = opened.device->info();
  if (!profile.Offers(opened.info.dialect)) {
    return Error(StatusCode::kInvalidArgument,
                 "{} does not offer {}; `hearth devices --profiles` says which APIs it has", profile.title,
                 DialectName(opened.info.dialect));
  }
  opened.id = listed.id;
  opened.info.id = opened.id;
  opened.reason = fmt::format("stands in for {}", profile.title);
  return opened;
}

Result<OpenedDevice> OpenFirstSoftwareDriverAs(const DeviceProfile& profile) {
  for (const ListedDevice& listed : ListAllDevices()) {
    const bool is_software_driver =
        listed.candidate.usable && listed.candidate.type == DeviceType::kCpu && !listed.backend->is_host();
    if (!is_software_driver) continue;
    Result<OpenedDevice> opened = OpenAs(listed, profile);
    if (opened.ok()) return opened;
  }
  return Error(StatusCode::kUnavailable,
               "no software driver of an API that {} has is usable; `hearth devices` says why", profile.title);
}

}  // namespace

std::vector<ListedDevice> ListAllDevices(Rows backends) {
  std::vector<ListedDevice> list;
  for (const BackendDef& backend : backends) AppendDevicesOf(backend, list);
  return list;
}

bool IsAutoDevice(const std::string& wanted) {
  const Result<std::string> name = NormalizedDeviceName(wanted);
  return name.ok() && *name == "auto";
}

Result<std::vector<ListedDevice>> ChooseDevices(const std::string& wanted, Rows backends) {
  HEARTH_ASSIGN(const std::string name, NormalizedDeviceName(wanted));
  if (name == "gpu") return Gpus(backends);
  if (name == "auto") {
    const std::vector<ListedDevice> all = ListAllDevices(backends);
    std::vector<ListedDevice> chosen = HardwareGpus(all);
    std::ranges::copy_if(all, std::back_inserter(chosen), [](const ListedDevice& d) { return d.backend->is_host(); });
    return chosen;
  }
  std::string rest;
  const BackendDef* backend = BackendIn(name, backends, rest);
  HEARTH_ASSIGN(ListedDevice device, backend != nullptr ? OfBackend(wanted, *backend, rest)
                                                        : DeviceByName(name, ListAllDevices(backends), OpenedUuid));
  return std::vector<ListedDevice>{std::move(device)};
}

Result<OpenedDevice> OpenChosenDevice(const std::string& wanted, const std::vector<std::string>& failed_ids,
                                      Rows backends) {
  HEARTH_ASSIGN(const std::vector<ListedDevice> choices, ChooseDevices(wanted, backends));
  OpenedDevice opened;
  if (std::string wrong = WrongBackendsVariable(); !wrong.empty()) opened.warnings.push_back(std::move(wrong));
  for (const BackendDef& backend : backends) {
    if (!IsAutoDevice(wanted)) continue;
    if (std::string why = WhyHardwareIsLost(backend); !why.empty()) opened.warnings.push_back(std::move(why));
    if (const std::string why = WhyLeftOut(backend); !why.empty())
      opened.warnings.push_back(fmt::format("{}: {}", backend.name, why));
  }
  Status last_failure(StatusCode::kUnavailable, "no further device is usable");
  bool any_failed = false;
  for (const ListedDevice& choice : choices) {
    if (Contains(failed_ids, choice.id)) {
      any_failed = true;
      continue;
    }
    opened.id = choice.id;
    const bool is_host = choice.backend->is_host();
    opened.reason = !IsAutoDevice(wanted) ? fmt::format("asked for as '{}'", wanted)
                    : any_failed          ? "the devices before it failed"
                    : is_host             ? "no hardware GPU is usable"
                                          : "the first hardware GPU";
    Result<std::unique_ptr<Device>> device = choice.backend->open(choice.candidate);
    if (device.ok()) {
      opened.device = std::move(device).value();
      opened.info = opened.device->info();
      opened.info.id = opened.id;
      if (const std::string_view slow = is_host ? WhyHostIsSlow() : ""; !slow.empty())
        opened.warnings.emplace_back(slow);
      return opened;
    }
    any_failed = true;
    last_failure = device.status();
    opened.warnings.push_back(
        fmt::format("{} failed to open, the next device is taken: {}", choice.id, last_failure.message()));
  }
  return Status(StatusCode::kUnavailable, last_failure.message()).Within(fmt::format("device '{}'", wanted));
}

Result<OpenedDevice> OpenSharedDevice(const SharedContext& context, const std::string& wanted, Rows backends) {
  const auto backend = std::ranges::find_if(
      backends, [&](const BackendDef& row) { return row.shares != nullptr && row.shares(context); });
  if (backend == backends.end())
    return Error(StatusCode::kUnsupported, "this build has no backend for the context to share");
  const Result<std::string> asked = NormalizedDeviceName(wanted);
  HEARTH_TRY(asked.status());
  if (*asked != "auto" && *asked != backend->name) {
    return Error(StatusCode::kInvalidArgument, "device '{}' was asked for with a context of {} to share", wanted,
                 backend->name);
  }
  OpenedDevice opened;
  HEARTH_ASSIGN(opened.device, backend->open_shared(context));
  opened.id = std::string(backend->name);
  opened.reason = "shared by the program";
  opened.info = opened.device->info();
  opened.info.id = opened.id;
  return opened;
}

Result<OpenedDevice> OpenSimulatedDevice(const std::string& wanted, const std::string& profile_name) {
  HEARTH_ASSIGN(const DeviceProfile* profile, FindDeviceProfile(profile_name));
  if (IsAutoDevice(wanted)) return OpenFirstSoftwareDriverAs(*profile);
  HEARTH_ASSIGN(const std::vector<ListedDevice> chosen, ChooseDevices(wanted));
  return OpenAs(chosen.front(), *profile);
}

Result<std::vector<std::string>> ProfilesFor(const std::string& wanted) {
  HEARTH_ASSIGN(const std::vector<ListedDevice> chosen, ChooseDevices(wanted));
  std::vector<std::string> names;
  for (const Dialect dialect : {Dialect::kOpenCl, Dialect::kGles, Dialect::kVulkan}) {
    if (chosen.front().backend->name != DialectName(dialect)) continue;
    for (const DeviceProfile& profile : DeviceProfiles()) {
      if (profile.Offers(dialect)) names.emplace_back(profile.name);
    }
  }
  return names;
}

Result<OpenedDevice> OpenDeviceAs(const std::string& wanted, const std::string& profile_name) {
  return profile_name.empty() ? OpenChosenDevice(wanted) : OpenSimulatedDevice(wanted, profile_name);
}

}  // namespace hearth
