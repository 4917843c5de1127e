#include "frontends/api/devices_to_warm.h"

#include "core/base/error.h"
#include "hearth/device.h"

namespace hearth {

Result<std::vector<std::string>> DevicesToWarm(const std::vector<std::string>& wanted) {
  std::vector<std::string> devices;
  for (const std::string& name : wanted) {
    if (name != "all") {
      devices.push_back(name);
      continue;
    }
    for (const DeviceDescription& device : ListDevices()) {
      if (device.usable && device.backend != "cpu") devices.push_back(device.id);
    }
  }
  if (devices.empty()) {
    return Error(StatusCode::kUnavailable, "there is no device to warm models for; `hearth devices` says why");
  }
  return devices;
}

}  // namespace hearth
