// The process's one VkInstance, made at first use.
#ifndef HEARTH_BACKENDS_VULKAN_INSTANCE_H_
#define HEARTH_BACKENDS_VULKAN_INSTANCE_H_

#include <memory>
#include <vector>

#include "backends/vulkan/driver_api.h"

namespace hearth::vulkan {

// Kept until the process ends: making it and asking its devices took 80-100 ms with Mesa 22.3's four drivers installed
// (2 cores, warm disk), which enumerating and opening then share; and unloading drivers that started threads is not
// safe with all of them.
struct Instance {
  LoaderApi loader;
  InstanceApi api;
  VkInstance handle = VK_NULL_HANDLE;
};

// kUnavailable with the reason; a failure is tried anew by the next call. Threads: any.
Result<const Instance*> SharedInstance();

// The caller's instance, which it destroys itself. kUnavailable when it is of API version 1.0.
Result<std::unique_ptr<Instance>> ForeignInstance(VkInstance handle);

// In the driver's order, the same at every call.
Result<std::vector<VkPhysicalDevice>> PhysicalDevices(const Instance& instance);

}  // namespace hearth::vulkan

#endif  // HEARTH_BACKENDS_VULKAN_INSTANCE_H_
