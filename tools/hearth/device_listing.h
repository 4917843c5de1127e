// The devices of this machine as they are, or as what their drivers simulate.
#ifndef HEARTH_TOOLS_HEARTH_DEVICE_LISTING_H_
#define HEARTH_TOOLS_HEARTH_DEVICE_LISTING_H_

#include <string>
#include <vector>

#include "hearth/device.h"
#include "hearth/status.h"

namespace hearth {

// ListDevices; with a profile's name each device as that profile, not usable where it can't simulate it.
// kInvalidArgument for an unknown profile.
Result<std::vector<DeviceDescription>> ListDevicesAs(const std::string& profile);

}  // namespace hearth

#endif  // HEARTH_TOOLS_HEARTH_DEVICE_LISTING_H_
