// What a kernel and a dispatch of it need, held against a device's limits: lowering asks before it takes a kernel, and
// every Device before its backend is asked. All answer kResourceExhausted with what is needed and what there is.
#ifndef HEARTH_CORE_EMIT_KERNEL_LIMITS_H_
#define HEARTH_CORE_EMIT_KERNEL_LIMITS_H_

#include <array>
#include <cstdint>

#include "core/device/device_info.h"
#include "core/emit/kernel_source.h"
#include "hearth/status.h"

namespace hearth {

// Arguments, work group and local memory. kInvalidArgument for an empty work group.
Status CheckKernelLimits(const KernelSource& source, const DeviceInfo& info);

// `size_bytes` of a buffer as the argument `arg`.
Status CheckBindingLimit(const KernelSource& source, const TensorArg& arg, uint64_t size_bytes, const DeviceInfo& info);

// Work groups in each dimension, at least one.
Status CheckGroupLimits(const KernelSource& source, const std::array<uint64_t, 3>& group_count, const DeviceInfo& info);

}  // namespace hearth

#endif  // HEARTH_CORE_EMIT_KERNEL_LIMITS_H_
