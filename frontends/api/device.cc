#include "hearth/device.h"

#include <fmt/ranges.h>

#include "core/device/device_profiles.h"
#include "core/device/device_rules.h"
#include "runtime/devices/device_choice.h"
#include "runtime/devices/device_names.h"
#include "runtime/devices/self_test.h"

namespace hearth {
namespace {

DeviceDescription Describe(const ListedDevice& listed) {
  DeviceDescription description{listed.id,
                                listed.candidate.backend,
                                listed.candidate.name,
                                listed.candidate.driver,
                                std::string(DeviceTypeName(listed.candidate.type)),
                                listed.candidate.usable,
                                listed.candidate.unusable_reason,
                                {},
                                {}};
  if (!listed.candidate.usable) return description;
  const Result<std::unique_ptr<Device>> device = listed.backend->open(listed.candidate);
  const bool is_tested = device.ok() && NeedsSelfTest(device.value()->info());
  const Status status = is_tested ? RunSelfTest(*device.value()) : device.status();
  if (device.ok()) {
    description.features = FeaturesOf(device.value()->info());
    if (!listed.backend->is_host()) description.rules = RulesOf(device.value()->info());
  }
  if (!status.ok()) {
    description.usable = false;
    description.reason = status.message();
  }
  return description;
}

}  // namespace

std::vector<SimulatedDevice> SimulatedDevices() {
  std::vector<SimulatedDevice> devices;
  for (const DeviceProfile& profile : DeviceProfiles()) {
    std::vector<std::string_view> apis;
    for (const Dialect dialect : {Dialect::kOpenCl, Dialect::kGles, Dialect::kVulkan}) {
      if (profile.Offers(dialect)) apis.push_back(DialectName(dialect));
    }
    devices.push_back({std::string(profile.name), std::string(profile.title), fmt::format("{}", fmt::join(apis, ", ")),
                       std::string(DeviceTypeName(profile.type)), std::string(profile.source)});
  }
  return devices;
}

std::vector<DriverRule> DriverRules() {
  std::vector<DriverRule> rules;
  for (const DeviceRule& row : DeviceRules())
    rules.push_back({std::string(row.name), std::string(row.sentence), std::string(row.measured)});
  return rules;
}

std::vector<DeviceDescription> ListDevices() {
  std::vector<DeviceDescription> descriptions;
  for (const ListedDevice& listed : ListAllDevices()) descriptions.push_back(Describe(listed));
  return descriptions;
}

}  // namespace hearth
