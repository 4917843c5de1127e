// Keys of programs in the cache.
#ifndef HEARTH_HAL_PROGRAM_KEYS_H_
#define HEARTH_HAL_PROGRAM_KEYS_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/fingerprint.h"
#include "core/device/device_info.h"
#include "core/emit/kernel_source.h"
#include "core/plan/plan.h"

namespace hearth {

// The sizes of grids in which a plan's dispatches run a kernel, as bits, if the driver makes different machine code for
// large ones (Rule::kGridClasses).
using GridClasses = uint8_t;
inline constexpr GridClasses kSmallGrids = 1, kLargeGrids = 2;
// One entry per kernel of the plan; empty if nothing depends on them.
std::vector<GridClasses> GridClassesOf(const Plan& plan, const DeviceInfo& info);

// The key of a native binary of `sources` on this device and driver. `grids`: empty, or those of each source.
CacheKey ProgramKey(std::span<const KernelSource> sources, const DeviceInfo& info,
                    std::span<const GridClasses> grids = {});

// The key of the portable part of `sources` (SPIR-V). It contains no device and no driver, so it survives driver
// updates.
CacheKey SourceKey(std::span<const KernelSource> sources, const DeviceInfo& info, std::string_view compiler);

}  // namespace hearth

#endif  // HEARTH_HAL_PROGRAM_KEYS_H_
