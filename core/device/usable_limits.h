// What becomes of limits that drivers do not tell or that no specification allows: nothing behind this divides by 0.
#ifndef HEARTH_CORE_DEVICE_USABLE_LIMITS_H_
#define HEARTH_CORE_DEVICE_USABLE_LIMITS_H_

#include <cstdint>
#include <initializer_list>

#include "core/device/device_info.h"

namespace hearth {

// The least multiple of all of them and of a texel's 16 bytes; 0 asks for nothing. At most 2^30, with which no second
// tensor finds a place in a buffer.
uint32_t UsableAlignment(std::initializer_list<uint64_t> asked);

// Counts of 0 are 1, but 0 compute units are those of the device's name (compute_units.h): a driver that does not tell
// them says 0. Subgroups of a size that is no power of two are not used, nor texel buffers that are not to be trusted
// (Rule::kStaleTexels). Limits of 0 stay: what they forbid runs on the CPU.
DeviceInfo WithUsableLimits(DeviceInfo info);

}  // namespace hearth

#endif  // HEARTH_CORE_DEVICE_USABLE_LIMITS_H_
