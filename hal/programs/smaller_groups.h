// Work groups that fit kernels as the driver compiled them.
#ifndef HEARTH_HAL_PROGRAMS_SMALLER_GROUPS_H_
#define HEARTH_HAL_PROGRAMS_SMALLER_GROUPS_H_

#include <functional>

#include "core/device/device_info.h"
#include "hal/device/device.h"

namespace hearth {

// Lowers info.max_local_invocations to the items that the driver took. Whether that changes anything.
inline bool LimitItems(const Device& device, DeviceInfo& info) {
  const uint32_t items = device.items_as_compiled();
  if (items == 0 || items >= info.max_local_invocations) return false;
  info.max_local_invocations = items;
  return true;
}

// `make` chooses groups for `info` and compiles. If the driver then takes fewer work items than info tells
// (Device::items_as_compiled), lowers info.max_local_invocations to that and calls it again, down to one item. Returns
// the last call's status.
inline Status MakeInSmallerGroups(const Device& device, DeviceInfo& info, const std::function<Status()>& make) {
  for (;;) {
    Status made = make();
    if (made.code() != StatusCode::kResourceExhausted || !LimitItems(device, info)) return made;
  }
}

// The device's info with the work items that all kernels so far were compiled for: for kernels that are made again and
// again, and gain nothing from larger groups.
inline DeviceInfo InfoAsCompiled(const Device& device) {
  DeviceInfo info = device.info();
  LimitItems(device, info);
  return info;
}

}  // namespace hearth

#endif  // HEARTH_HAL_PROGRAMS_SMALLER_GROUPS_H_
