// Remembers how many work items a driver took in the groups of a model's kernels, so that the next start plans for that
// at once.
#ifndef HEARTH_RUNTIME_PLANS_ITEMS_AS_COMPILED_H_
#define HEARTH_RUNTIME_PLANS_ITEMS_AS_COMPILED_H_

#include <cstdint>
#include <string>

#include "core/store/result_cache.h"
#include "hal/device/device.h"

namespace hearth {

// Lowers info.max_local_invocations to what is stored for the model (as the cache names its content) on this device and
// driver. Asks nothing where the driver tells no such limit, and counts no miss.
void LimitItemsAsCompiled(const std::string& model, const Device& device, DeviceInfo& info, ResultCache& cache);

// Whether info.max_local_invocations is less than the next start would plan for.
bool HasUnknownLimit(const std::string& model, const Device& device, const DeviceInfo& info, ResultCache& cache);

// Stores info.max_local_invocations if that is less than the device's own.
void StoreItemsAsCompiled(const std::string& model, const Device& device, const DeviceInfo& info, double cost_ms,
                          ResultCache& cache);

}  // namespace hearth

#endif  // HEARTH_RUNTIME_PLANS_ITEMS_AS_COMPILED_H_
