// The Vulkan backend: devices of API version 1.1 or newer that have a compute queue.
#ifndef HEARTH_BACKENDS_VULKAN_BACKEND_H_
#define HEARTH_BACKENDS_VULKAN_BACKEND_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "hal/device/device.h"

namespace hearth {

// Every physical device in the driver's order. One unusable candidate with the reason if there is no loader, no driver
// or no device. Threads: any.
std::vector<DeviceCandidate> EnumerateVulkan();

// Opens a candidate of EnumerateVulkan. kUnavailable with the candidate's reason if it is not usable. Threads: any.
Result<std::unique_ptr<Device>> OpenVulkan(const DeviceCandidate& candidate);

// Works in the caller's VulkanContext and never destroys it. kInvalidArgument if it is incomplete, too old or can't
// compute. Threads: any.
Result<std::unique_ptr<Device>> OpenSharedVulkan(const SharedContext& context);

// For tests: switches features off, so that a device runs as others do.
struct VulkanPaths {
  bool mapped_memory = true;  // false: copies through staging buffers, as on discrete GPUs
  bool timestamps = true;     // false: profiles by waiting, as on queues without a clock
};
Result<std::unique_ptr<Device>> OpenVulkanWithPaths(const DeviceCandidate& candidate, const VulkanPaths& paths);

// Counts a device's driver calls, for tests of the overhead of a run.
struct VulkanCalls {
  uint64_t allocations = 0, submissions = 0, waits = 0;
};
VulkanCalls VulkanCallsOf(const Device& device);  // precondition: one of this backend

}  // namespace hearth

#endif  // HEARTH_BACKENDS_VULKAN_BACKEND_H_
