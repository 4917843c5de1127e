// What programs are called in the cache.
#ifndef HEARTH_HAL_PROGRAM_KEYS_H_
#define HEARTH_HAL_PROGRAM_KEYS_H_

#include <span>
#include <string_view>

#include "core/base/fingerprint.h"
#include "core/device/device_info.h"
#include "core/emit/kernel_source.h"

namespace hearth {

// The key of a native binary of `sources` on this device and driver.
CacheKey ProgramKey(std::span<const KernelSource> sources, const DeviceInfo& info);

// The key of the portable part of `sources` (SPIR-V): no device, no driver, so that an update of those keeps it.
CacheKey SourceKey(std::span<const KernelSource> sources, const DeviceInfo& info, std::string_view compiler);

}  // namespace hearth

#endif  // HEARTH_HAL_PROGRAM_KEYS_H_
