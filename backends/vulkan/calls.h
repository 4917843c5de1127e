#ifndef HEARTH_BACKENDS_VULKAN_CALLS_H_
#define HEARTH_BACKENDS_VULKAN_CALLS_H_

#include <cstdint>

namespace hearth {

// Calls of a device to its driver so far, for tests: what a run costs beside its kernels.
struct VulkanCalls {
  uint64_t allocations = 0, submissions = 0, waits = 0;
};

}  // namespace hearth

#endif  // HEARTH_BACKENDS_VULKAN_CALLS_H_
