// The program's own Vulkan: a device with one queue, buffers and images that the host sees, timeline semaphores.
#ifndef HEARTH_EXAMPLES_ZERO_COPY_VULKAN_VULKAN_DEVICE_H_
#define HEARTH_EXAMPLES_ZERO_COPY_VULKAN_VULKAN_DEVICE_H_

#include <vulkan/vulkan.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace examples {

struct MappedBuffer {
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  void* address = nullptr;
  uint64_t size_bytes = 0;
};

struct MappedImage {
  VkImage image = VK_NULL_HANDLE;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  std::byte* pixels = nullptr;  // the first row
  uint64_t row_pitch_bytes = 0;
};

class VulkanDevice {
 public:
  // Empty, or why there is none.
  std::string Open();
  ~VulkanDevice();

  VkInstance instance() const { return instance_; }
  VkPhysicalDevice physical() const { return physical_; }
  VkDevice device() const { return device_; }
  VkQueue queue() const { return queue_; }
  uint32_t queue_family() const { return queue_family_; }

  // Its buffer is null where there is no memory.
  MappedBuffer MakeBuffer(uint64_t size_bytes);
  // RGBA8, in VK_IMAGE_LAYOUT_GENERAL; its image is null where the driver has no such image for the host to write.
  MappedImage MakeImage(uint32_t width, uint32_t height);
  // From 0 on; null on failure.
  VkSemaphore MakeTimeline();
  void Signal(VkSemaphore semaphore, uint64_t value);
  void Wait(VkSemaphore semaphore, uint64_t value);

 private:
  std::string OpenDevice();
  // A type of mappable memory that `needed` allows, mapped; null where there is none.
  VkDeviceMemory Allocate(const VkMemoryRequirements& needed);
  bool IntoGeneralLayout(VkImage image);

  VkInstance instance_ = VK_NULL_HANDLE;
  VkPhysicalDevice physical_ = VK_NULL_HANDLE;
  VkDevice device_ = VK_NULL_HANDLE;
  VkQueue queue_ = VK_NULL_HANDLE;
  uint32_t queue_family_ = 0;
  std::vector<VkSemaphore> semaphores_;
  std::vector<MappedBuffer> buffers_;
  std::vector<MappedImage> images_;
};

}  // namespace examples

#endif  // HEARTH_EXAMPLES_ZERO_COPY_VULKAN_VULKAN_DEVICE_H_
