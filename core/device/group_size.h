// How large work groups are made for a device.
#ifndef HEARTH_CORE_DEVICE_GROUP_SIZE_H_
#define HEARTH_CORE_DEVICE_GROUP_SIZE_H_

#include <array>
#include <cstdint>

#include "core/device/device_info.h"

namespace hearth {

// Items of a work group whose kernel does not say: 8 on processors. On hardware at least 64, which is a multiple of
// every wave up to that size, so that none is part empty (a group of 32 leaves half of an AMD wave idle), and twice a
// warp (NVIDIA keeps 16 groups on a processor that takes 48 warps); one subgroup where that is larger. 8 where the
// device takes no 64.
uint32_t GroupItems(const DeviceInfo& device);

// Of a group whose items make `rows` pixels each, of `pixels`: one subgroup is enough where a whole group would have
// nothing to do in its other half.
uint32_t GroupItemsFor(const DeviceInfo& device, int64_t pixels, int rows);

// Of a kernel with a work item for each pixel of a picture: 8 by 8, a whole wave, or as many of them as the device
// takes; a line of 8 on processors.
std::array<uint32_t, 3> PictureGroup(const DeviceInfo& device);

}  // namespace hearth

#endif  // HEARTH_CORE_DEVICE_GROUP_SIZE_H_
