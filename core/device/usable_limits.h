// Corrects limits that drivers do not report or that no specification allows, so that no later code divides by 0.
#ifndef HEARTH_CORE_DEVICE_USABLE_LIMITS_H_
#define HEARTH_CORE_DEVICE_USABLE_LIMITS_H_

#include <array>
#include <cstdint>
#include <initializer_list>

#include "core/device/device_info.h"

namespace hearth {

// The least common multiple of all of them and of a texel's 16 bytes; 0 is ignored. At most 2^30, with which a buffer
// holds only one tensor.
uint32_t UsableAlignment(std::initializer_list<uint64_t> asked);

// Whether kernels can multiply matrices of this shape (DeviceInfo::matrix_shape): their rows in local memory are whole
// multiples of 16 bytes, and a sum has at most 64 texels there.
bool IsUsableMatrix(const std::array<uint32_t, 3>& shape);

// Counts of 0 become 1, except that 0 compute units, which mean that the driver does not report them, become those of
// the device's name (compute_units.h). Subgroups whose size is no power of two are not used, nor are matrices without
// subgroups, nor unreliable texel buffers (Rule::kStaleTexels). Limits of 0 stay: operations that they forbid run on
// the CPU.
DeviceInfo WithUsableLimits(DeviceInfo info);

}  // namespace hearth

#endif  // HEARTH_CORE_DEVICE_USABLE_LIMITS_H_
