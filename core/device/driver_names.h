// What the name of a device tells, where its API does not.
#ifndef HEARTH_CORE_DEVICE_DRIVER_NAMES_H_
#define HEARTH_CORE_DEVICE_DRIVER_NAMES_H_

#include <string_view>

#include "core/device/device_info.h"

namespace hearth {

// Whether the device's name has that of a software driver, in any case and within the name of a driver that runs on it
// (virgl, zink, Venus, ANGLE). For APIs that do not tell, and for wrappers that call it something else: rules that keep
// results right (Rule::kLoopLimit) depend on it.
bool IsSoftwareName(std::string_view name);

// By its name and type: whether the host and the GPU share memory. No for AMD's processors with a GPU, as for all that
// is not known: results are the same, and a wrong no costs a conversion on the device. A wrong yes would have the host
// read device memory over a bus.
bool HasUnifiedMemory(const DeviceInfo& device);

}  // namespace hearth

#endif  // HEARTH_CORE_DEVICE_DRIVER_NAMES_H_
