#include "hal/programs/smaller_groups.h"

namespace hearth {
namespace {

// Whether that changes anything.
bool LimitItems(const Device& device, DeviceInfo& info) {
  const uint32_t items = device.items_as_compiled();
  if (items == 0 || items >= info.max_local_invocations) return false;
  info.max_local_invocations = items;
  return true;
}

}  // namespace

Status MakeInSmallerGroups(const Device& device, DeviceInfo& info, const std::function<Status()>& make) {
  for (;;) {
    Status made = make();
    if (made.code() != StatusCode::kResourceExhausted || !LimitItems(device, info)) return made;
  }
}

DeviceInfo InfoAsCompiled(const Device& device) {
  DeviceInfo info = device.info();
  LimitItems(device, info);
  return info;
}

}  // namespace hearth
