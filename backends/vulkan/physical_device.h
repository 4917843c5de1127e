// The properties of a physical device, read once, without opening it.
#ifndef HEARTH_BACKENDS_VULKAN_PHYSICAL_DEVICE_H_
#define HEARTH_BACKENDS_VULKAN_PHYSICAL_DEVICE_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "backends/vulkan/driver_api.h"
#include "backends/vulkan/memory_types.h"
#include "core/device/device_info.h"
#include "core/device/device_profiles.h"

namespace hearth::vulkan {

// The name of an extension that only the headers of beta extensions have. A driver with it may lack events, views of
// images, tessellation or triangle fans. Hearth uses none of these.
inline constexpr const char* kPortabilitySubset = "VK_KHR_portability_subset";

struct PhysicalDevice {
  const Instance* instance = nullptr;
  VkPhysicalDevice handle = VK_NULL_HANDLE;
  DeviceInfo info;
  std::string unusable_reason;  // empty: usable

  uint32_t queue_family = 0;
  uint32_t timestamp_bits = 0;  // 0: the queue has no clock
  double timestamp_period_ns = 1;
  std::vector<MemoryType> memory_types;
  uint64_t non_coherent_atom_bytes = 1;  // alignment of ranges that the host flushes or invalidates

  // Features that exist and are enabled when the device is opened, as info.int64 is.
  bool storage_buffer_16bit = false;
  bool shader_float16 = false;
  bool float16_is_extension = false;  // before Vulkan 1.2
  bool portability_subset = false;    // lacks something of Vulkan 1.0; the extension must be enabled

  // Extensions for memory that other drivers made. They are enabled when the device is opened.
  std::vector<const char*> external_memory;
  bool has_foreign_queues = false;  // VK_EXT_queue_family_foreign is among them

  // A pipeline cache of any other device or driver build is ignored.
  uint32_t vendor_id = 0, device_id = 0;
  std::array<uint8_t, VK_UUID_SIZE> pipeline_cache_uuid{};
};

// kInvalidArgument if the device has no such queue family, or the family does not compute.
Status CheckQueueFamily(const Instance& instance, VkPhysicalDevice handle, uint32_t family);

PhysicalDevice Describe(const Instance& instance, VkPhysicalDevice handle);

// DeviceInfo::matrix_shape: the largest of the matrices that a subgroup of the device multiplies in one step and that
// kernels can use; zeros if there is none.
std::array<uint32_t, 3> MatrixShapeOf(const Instance& instance, VkPhysicalDevice device);

// The device with the limits and the memory of the profile's, as far as its own go.
void Simulate(const DeviceProfile& profile, PhysicalDevice& device);

}  // namespace hearth::vulkan

#endif  // HEARTH_BACKENDS_VULKAN_PHYSICAL_DEVICE_H_
