// The process's one VkInstance, made when first needed.
#ifndef HEARTH_BACKENDS_VULKAN_INSTANCE_H_
#define HEARTH_BACKENDS_VULKAN_INSTANCE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "backends/vulkan/driver_api.h"

namespace hearth::vulkan {

// Kept until the process ends. Enumerating and opening share it: making it and querying its devices took 80-100 ms with
// Mesa 22.3's four drivers installed (2 cores, warm disk). Some drivers that started threads can't be unloaded safely.
struct Instance {
  LoaderApi loader;
  InstanceApi api;
  VkInstance handle = VK_NULL_HANDLE;
  // What it was made for. Devices are used by no later one, whatever they have.
  uint32_t version = VK_API_VERSION_1_1;
};

// kUnavailable with the reason; the next call tries again after a failure. Threads: any.
Result<const Instance*> SharedInstance();

// The caller's instance, which the caller destroys. Vulkan can't be asked for its version, so it counts as 1.1.
// kUnavailable if it is of API version 1.0.
Result<std::unique_ptr<Instance>> ForeignInstance(VkInstance handle);

// In the driver's order, the same at every call.
Result<std::vector<VkPhysicalDevice>> PhysicalDevices(const Instance& instance);

}  // namespace hearth::vulkan

#endif  // HEARTH_BACKENDS_VULKAN_INSTANCE_H_
