#include "backends/null/backend.h"

#include "backends/null/device.h"

namespace hearth {

std::vector<DeviceCandidate> EnumerateNull() {
  const DeviceInfo info = NullDeviceInfo();
  DeviceCandidate candidate;
  candidate.backend = info.backend;
  candidate.name = info.name;
  candidate.driver = info.driver_version;
  candidate.type = info.type;
  candidate.usable = true;
  return {candidate};
}

Result<std::unique_ptr<Device>> OpenNull(const DeviceCandidate&) {
  return std::unique_ptr<Device>(std::make_unique<NullDevice>(NullDeviceInfo()));
}

}  // namespace hearth
