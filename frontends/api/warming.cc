#include "frontends/api/warming.h"

#include <algorithm>

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

Status CheckAllStored(uint64_t put_errors, std::span<const std::string> warnings) {
  if (put_errors == 0) return Status::Ok();
  const auto found =
      std::ranges::find_if(warnings, [](const std::string& warning) { return warning.starts_with("cache: "); });
  const std::string why = found != warnings.end() ? *found : warnings.empty() ? "no reason is told" : warnings[0];
  return Error(StatusCode::kIoError, "{} of its entries could not be stored: {}", put_errors, why);
}

}  // namespace hearth
