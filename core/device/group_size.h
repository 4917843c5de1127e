// Sizes of work groups for a device.
#ifndef HEARTH_CORE_DEVICE_GROUP_SIZE_H_
#define HEARTH_CORE_DEVICE_GROUP_SIZE_H_

#include <array>
#include <cstdint>

#include "core/device/device_info.h"

namespace hearth {

// Items of a work group if the kernel does not set it: 8 on processors. On hardware at least 64: that is a multiple of
// every wave up to that size, so none is partly empty (a group of 32 leaves half of an AMD wave idle), and twice a warp
// (an NVIDIA processor takes 16 groups and 48 warps). One subgroup if that is larger. 8 if the device does not take 64.
uint32_t GroupItems(const DeviceInfo& device);

// Whether the items of a group run together as waves do: not on processors, nor if a subgroup shares loaded weights.
bool GroupsAreWaves(const DeviceInfo& device);

// For a group whose items make `rows` of the `pixels` each: one subgroup is enough if the other half of a whole group
// would be idle.
uint32_t GroupItemsFor(const DeviceInfo& device, int64_t pixels, int rows);

// For a kernel with one work item per pixel of a picture: 8 by 8, a whole wave, or as many as the device takes; a line
// of 8 on processors.
std::array<uint32_t, 3> PictureGroup(const DeviceInfo& device);

// `wanted`, or what is left of it when its largest dimension is halved until the device takes it; one item at least.
// For kernels whose items are independent, so that any group gives the same results.
std::array<uint32_t, 3> FittingGroup(std::array<uint32_t, 3> wanted, const DeviceInfo& device);

}  // namespace hearth

#endif  // HEARTH_CORE_DEVICE_GROUP_SIZE_H_
