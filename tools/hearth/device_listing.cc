#include "tools/hearth/device_listing.h"

#include "core/base/error.h"
#include "core/device/device_profiles.h"
#include "runtime/devices/device_choice.h"
#include "runtime/devices/device_names.h"
#include "runtime/devices/self_test.h"

namespace hearth {
namespace {

DeviceDescription DescribeAs(const ListedDevice& listed, const DeviceProfile& profile) {
  DeviceDescription description;
  description.id = listed.id;
  description.backend = listed.candidate.backend;
  description.name = listed.candidate.name;
  description.driver = listed.candidate.driver;
  description.type = DeviceTypeName(listed.candidate.type);
  description.reason = listed.candidate.unusable_reason;
  if (!listed.candidate.usable) return description;
  const Result<OpenedDevice> opened = OpenSimulatedDevice(listed.id, std::string(profile.name));
  if (!opened.ok()) {
    description.reason = opened.status().message();
    return description;
  }
  const DeviceInfo& info = opened->info;
  description.name = info.name;
  description.driver = info.driver_version;
  description.type = DeviceTypeName(info.type);
  description.features = FeaturesOf(info);
  description.rules = RulesOf(info);
  const Status tested = NeedsSelfTest(info) ? RunSelfTest(*opened->device) : Status::Ok();
  description.usable = tested.ok();
  if (!tested.ok()) description.reason = tested.message();
  return description;
}

}  // namespace

Result<std::vector<DeviceDescription>> ListDevicesAs(const std::string& profile) {
  if (profile.empty()) return ListDevices();
  HEARTH_ASSIGN(const DeviceProfile* found, FindDeviceProfile(profile));
  std::vector<DeviceDescription> descriptions;
  for (const ListedDevice& listed : ListAllDevices()) descriptions.push_back(DescribeAs(listed, *found));
  return descriptions;
}

}  // namespace hearth
