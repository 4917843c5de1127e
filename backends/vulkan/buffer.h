// Device memory as a VkBuffer.
#ifndef HEARTH_BACKENDS_VULKAN_BUFFER_H_
#define HEARTH_BACKENDS_VULKAN_BUFFER_H_

#include <cstddef>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "backends/vulkan/logical_device.h"
#include "backends/vulkan/memory_types.h"
#include "hal/device/device.h"

namespace hearth::vulkan {

// Has its own allocation (plans use few and large buffers), or none if the buffer is the caller's.
class VulkanBuffer : public Buffer {
 public:
  // kResourceExhausted if no memory type has room.
  static Result<std::unique_ptr<VulkanBuffer>> Create(LogicalDevice& device, uint64_t size_bytes, MemoryUse use);
  ~VulkanBuffer() override { device_->UncountSpilled(spilled_bytes_); }

  // The caller's buffer. kInvalidArgument if it is smaller than `size_bytes`.
  static Result<std::unique_ptr<VulkanBuffer>> Import(LogicalDevice& device, VkBuffer buffer, uint64_t size_bytes);

  // A buffer for the bytes of the caller's image; RecordImageCopy fills it. kUnsupported if kernels are to write it;
  // kInvalidArgument for a layout that an image can't return to.
  static Result<std::unique_ptr<VulkanBuffer>> ImportImage(LogicalDevice& device, const NativeMemory& memory);

  // Memory that other drivers use too. A linear dma-buf is the buffer; the texels of any other are copied like those of
  // the caller's image. kUnsupported if the driver does not take it (external_memory.cc).
  static Result<std::unique_ptr<VulkanBuffer>> ImportExternal(LogicalDevice& device, const NativeMemory& memory);

  VkBuffer handle() const { return handle_; }
  // Whether a dispatch that reads the buffer is recorded between RecordBeforeRead and RecordAfterRead.
  bool is_lent_in_turns() const { return image_ != VK_NULL_HANDLE || owner_ != VK_QUEUE_FAMILY_IGNORED; }
  // Takes the memory over from its owner, and copies all planes of an image, after all earlier and before all later
  // uses of the image and the buffer.
  void RecordBeforeRead(VkCommandBuffer commands) const;
  // Gives it back.
  void RecordAfterRead(VkCommandBuffer commands) const;
  std::byte* mapped() const { return mapped_; }  // null: copies to and from it are staged
  // Call them around the host's use of mapped(): they make the host's writes visible to the device, and the device's to
  // the host. They do nothing if the memory is coherent.
  Status Flush(uint64_t offset_bytes, uint64_t size_bytes) const;
  Status Invalidate(uint64_t offset_bytes, uint64_t size_bytes) const;

  // A view for texel reads, made once per range and format and kept with the buffer.
  Result<VkBufferView> TexelView(uint64_t offset_bytes, uint64_t size_bytes, VkFormat format);

 private:
  VulkanBuffer(LogicalDevice& device, uint64_t size_bytes) : Buffer(size_bytes), device_(&device) {}
  Status Allocate(MemoryUse use);
  Status Map();
  static Result<std::unique_ptr<VulkanBuffer>> ImportLinear(LogicalDevice& device, const NativeMemory& memory);
  Status ImportTexels(const NativeMemory& memory);
  Status ImportHardwareBuffer(const NativeMemory& memory);
  void SetPlanes(const NativeMemory& memory);
  void RecordImageCopy(VkCommandBuffer commands) const;
  void RecordOwnership(VkCommandBuffer commands, bool is_acquired) const;
  VkMappedMemoryRange WholeAtoms(uint64_t offset_bytes, uint64_t size_bytes) const;

  LogicalDevice* device_;
  Owned<VkDeviceMemory> memory_;  // declared before the buffer, which is destroyed first
  Owned<VkBuffer> buffer_;        // null if the buffer is the caller's
  VkBuffer handle_ = VK_NULL_HANDLE;
  Owned<VkDeviceMemory> image_memory_;  // null if the image is the caller's
  Owned<VkImage> owned_image_;
  VkImage image_ = VK_NULL_HANDLE;
  uint32_t owner_ = VK_QUEUE_FAMILY_IGNORED;  // of the lent memory between runs, if it is not the session's queue
  VkImageLayout image_layout_ = VK_IMAGE_LAYOUT_UNDEFINED;
  std::vector<VkBufferImageCopy> image_regions_;
  std::map<std::tuple<uint64_t, uint64_t, VkFormat>, Owned<VkBufferView>> views_;
  std::byte* mapped_ = nullptr;
  bool is_coherent_ = true;
  uint64_t allocated_bytes_ = 0;
  uint64_t spilled_bytes_ = 0;  // this buffer's part of the device's
};

// Copies bytes between buffers and waits for the copy.
Status CopyBytes(LogicalDevice& device, const VulkanBuffer& from, uint64_t from_offset_bytes, const VulkanBuffer& to,
                 uint64_t to_offset_bytes, uint64_t size_bytes);

}  // namespace hearth::vulkan

#endif  // HEARTH_BACKENDS_VULKAN_BUFFER_H_
