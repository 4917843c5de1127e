// Checks kernels and dispatches against a device's limits. Lowering asks before it uses a kernel, and Device before it
// calls its backend. All return kResourceExhausted with the needed and the available amount.
#ifndef HEARTH_CORE_EMIT_KERNEL_LIMITS_H_
#define HEARTH_CORE_EMIT_KERNEL_LIMITS_H_

#include <array>
#include <cstdint>

#include "core/device/device_info.h"
#include "core/emit/kernel_source.h"
#include "hearth/status.h"

namespace hearth {

// Of all arrays of a work group.
uint64_t LocalMemoryBytes(const KernelSource& source);

// Of one element of each array: what a work item takes where arrays have an element for each item.
uint64_t LocalBytesOfItem(const KernelSource& source);

// Arguments, work group and local memory. kInvalidArgument for an empty work group.
Status CheckKernelLimits(const KernelSource& source, const DeviceInfo& info);

// Checks `size_bytes` of a buffer as the argument `arg`.
Status CheckBindingLimit(const KernelSource& source, const TensorArg& arg, uint64_t size_bytes, const DeviceInfo& info);

// Checks the work groups in each dimension, at least one.
Status CheckGroupLimits(const KernelSource& source, const std::array<uint64_t, 3>& group_count, const DeviceInfo& info);

}  // namespace hearth

#endif  // HEARTH_CORE_EMIT_KERNEL_LIMITS_H_
