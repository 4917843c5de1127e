// What a physical device says about itself, read once, without opening it.
#ifndef HEARTH_BACKENDS_VULKAN_PHYSICAL_DEVICE_H_
#define HEARTH_BACKENDS_VULKAN_PHYSICAL_DEVICE_H_

#include <array>
#include <cstdint>
#include <string>

#include "backends/vulkan/instance.h"
#include "core/device/device_info.h"

namespace hearth::vulkan {

// The name of an extension that only headers of beta extensions have. Of what a driver may lack with it (events,
// views of images, tessellation, triangle fans), Hearth uses nothing.
inline constexpr const char* kPortabilitySubset = "VK_KHR_portability_subset";

struct PhysicalDevice {
  const Instance* instance = nullptr;
  VkPhysicalDevice handle = VK_NULL_HANDLE;
  DeviceInfo info;
  std::string unusable_reason;  // empty: usable

  uint32_t queue_family = 0;
  uint32_t timestamp_bits = 0;  // 0: the queue has no clock
  double timestamp_period_ns = 1;
  VkPhysicalDeviceMemoryProperties memory{};
  uint64_t non_coherent_atom_bytes = 1;  // what the host sees of memory that is not coherent begins and ends at these

  // Features that exist and are switched on when the device is opened, as info.int64 is.
  bool storage_buffer_16bit = false;
  bool shader_float16 = false;
  bool float16_is_extension = false;  // before Vulkan 1.2
  bool portability_subset = false;    // the driver lacks something of Vulkan 1.0, and wants that extension switched on

  // A pipeline cache made by any other device or driver build is ignored.
  uint32_t vendor_id = 0, device_id = 0;
  std::array<uint8_t, VK_UUID_SIZE> pipeline_cache_uuid{};
};

// kInvalidArgument when the device has no such queue family, or it does not compute.
Status CheckQueueFamily(const Instance& instance, VkPhysicalDevice handle, uint32_t family);

PhysicalDevice Describe(const Instance& instance, VkPhysicalDevice handle);

}  // namespace hearth::vulkan

#endif  // HEARTH_BACKENDS_VULKAN_PHYSICAL_DEVICE_H_
