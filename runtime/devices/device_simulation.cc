#include "runtime/devices/device_simulation.h"

#include "core/base/error.h"
#include "core/device/device_profiles.h"

namespace hearth {
namespace {

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
