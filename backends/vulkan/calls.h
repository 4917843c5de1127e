#ifndef HEARTH_BACKENDS_VULKAN_CALLS_H_
#define HEARTH_BACKENDS_VULKAN_CALLS_H_

#include <cstdint>

namespace hearth {

// Counts a device's driver calls, for tests of the overhead of a run.
struct VulkanCalls {
  uint64_t allocations = 0, submissions = 0, waits = 0;
};

}  // namespace hearth

#endif  // HEARTH_BACKENDS_VULKAN_CALLS_H_
