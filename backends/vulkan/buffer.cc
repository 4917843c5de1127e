#include "backends/vulkan/buffer.h"

#include <utility>
#include <vector>

#include "backends/vulkan/recorded_commands.h"
#include "core/base/error.h"
#include "core/base/numbers.h"

namespace hearth::vulkan {

Result<std::unique_ptr<VulkanBuffer>> VulkanBuffer::Create(LogicalDevice& device, uint64_t size_bytes, MemoryUse use) {
  std::unique_ptr<VulkanBuffer> buffer(new VulkanBuffer(device, size_bytes));
  const Status allocated = buffer->Allocate(use);
  if (!allocated.ok()) return allocated.Within(fmt::format("buffer of {} bytes on {}", size_bytes, device.info().name));
  return buffer;
}

Result<std::unique_ptr<VulkanBuffer>> VulkanBuffer::Import(LogicalDevice& device, VkBuffer handle,
                                                           uint64_t size_bytes) {
  // The buffer's exact size can't be queried; its memory size is an upper bound.
  VkMemoryRequirements needed{};
  device.api().GetBufferMemoryRequirements(device.handle(), handle, &needed);
  if (needed.size < size_bytes) {
    return Error(StatusCode::kInvalidArgument, "the lent VkBuffer has at most {} bytes, but the binding says {}",
                 needed.size, size_bytes);
  }
  std::unique_ptr<VulkanBuffer> buffer(new VulkanBuffer(device, size_bytes));
  buffer->handle_ = handle;
  return buffer;
}

Result<std::unique_ptr<VulkanBuffer>> VulkanBuffer::ImportImage(LogicalDevice& device, const NativeMemory& memory) {
  if (memory.is_written)
    return Error(StatusCode::kUnsupported, "a VkImage is read only: bind the output to a VkBuffer");
  const auto layout = static_cast<VkImageLayout>(memory.image_layout);
  if (layout == VK_IMAGE_LAYOUT_UNDEFINED || layout == VK_IMAGE_LAYOUT_PREINITIALIZED) {
    return Error(StatusCode::kInvalidArgument,
                 "image_layout is {}: give the VkImageLayout that the image has when a run begins, neither UNDEFINED "
                 "nor PREINITIALIZED",
                 memory.image_layout);
  }
  HEARTH_ASSIGN(auto buffer, Create(device, memory.size_bytes, MemoryUse::kKernels));
  buffer->image_ = reinterpret_cast<VkImage>(memory.handle);
  buffer->image_layout_ = layout;
  buffer->SetPlanes(memory);
  return buffer;
}

void VulkanBuffer::SetPlanes(const NativeMemory& memory) {
  constexpr VkImageAspectFlagBits kPlanes[] = {VK_IMAGE_ASPECT_PLANE_0_BIT, VK_IMAGE_ASPECT_PLANE_1_BIT,
                                               VK_IMAGE_ASPECT_PLANE_2_BIT};
  for (size_t k = 0; k < memory.planes.size(); ++k) {
    const ImagePlane& plane = memory.planes[k];
    VkBufferImageCopy region{};
    region.bufferOffset = plane.offset_bytes;
    region.imageSubresource = {memory.planes.size() == 1 ? VK_IMAGE_ASPECT_COLOR_BIT : kPlanes[k], 0, 0, 1};
    region.imageExtent = {plane.width, plane.height, 1};
    image_regions_.push_back(region);
  }
}

void VulkanBuffer::RecordImageCopy(VkCommandBuffer commands) const {
  const DeviceApi& api = device_->api();
  const bool is_readable =
      image_layout_ == VK_IMAGE_LAYOUT_GENERAL || image_layout_ == VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
  const VkImageLayout read_layout = is_readable ? image_layout_ : VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
  // The image is the program's, which may use it in any way before and after.
  VkImageMemoryBarrier image{VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER};
  const uint32_t own = owner_ == VK_QUEUE_FAMILY_IGNORED ? owner_ : device_->physical().queue_family;
  image.srcQueueFamilyIndex = owner_;
  image.dstQueueFamilyIndex = own;
  image.image = image_;
  image.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
  image.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT;
  image.dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT;
  image.oldLayout = image_layout_;
  image.newLayout = read_layout;
  VkMemoryBarrier bytes{VK_STRUCTURE_TYPE_MEMORY_BARRIER};
  bytes.srcAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
  bytes.dstAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
  api.CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 1, &bytes, 0,
                         nullptr, 1, &image);
  api.CmdCopyImageToBuffer(commands, image_, read_layout, handle_, static_cast<uint32_t>(image_regions_.size()),
                           image_regions_.data());
  std::swap(image.srcQueueFamilyIndex, image.dstQueueFamilyIndex);
  image.srcAccessMask = VK_ACCESS_TRANSFER_READ_BIT;
  image.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
  image.oldLayout = read_layout;
  image.newLayout = image_layout_;
  bytes.srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
  bytes.dstAccessMask = VK_ACCESS_SHADER_READ_BIT;
  api.CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 1, &bytes, 0,
                         nullptr, 1, &image);
}

Status VulkanBuffer::Allocate(MemoryUse use) {
  const DeviceApi& api = device_->api();
  VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.size = size_bytes();
  info.usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  if (use == MemoryUse::kKernels) {
    info.usage |= VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT;
  }
  HEARTH_ASSIGN(buffer_, device_->Make(api.CreateBuffer, api.DestroyBuffer, info, "vkCreateBuffer"));
  handle_ = buffer_.get();
  VkMemoryRequirements needed{};
  api.GetBufferMemoryRequirements(device_->handle(), handle(), &needed);

  Status refusal = Error(StatusCode::kResourceExhausted, "no memory type fits");
  const PhysicalDevice& physical = device_->physical();
  const bool is_unified = physical.info.unified_memory;
  const auto types = TypesByFitness(physical.memory_types, needed.memoryTypeBits, use, is_unified);
  for (const MemoryType& type : types) {
    VkMemoryAllocateInfo allocate{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
    allocate.allocationSize = needed.size;
    allocate.memoryTypeIndex = type.index;
    device_->CountAllocation();
    auto memory = device_->Make(api.AllocateMemory, api.FreeMemory, allocate, "vkAllocateMemory");
    if (!memory.ok()) {
      refusal = memory.status();
      continue;
    }
    memory_ = std::move(memory).value();
    HEARTH_TRY(ToStatus(api.BindBufferMemory(device_->handle(), handle(), memory_.get(), 0), "vkBindBufferMemory"));
    is_coherent_ = type.is_coherent();
    allocated_bytes_ = needed.size;
    if (use == MemoryUse::kStaging) return Map();
    if (!is_unified && types.front().is_local() && !type.is_local()) {
      spilled_bytes_ = needed.size;
      device_->CountSpilled(spilled_bytes_);
    }
    // Where the driver refuses, for want of addresses for example, copies are staged.
    if (is_unified && type.is_visible()) static_cast<void>(Map());
    return Status::Ok();
  }
  return refusal;
}

Status VulkanBuffer::Map() {
  void* address = nullptr;
  HEARTH_TRY(ToStatus(device_->api().MapMemory(device_->handle(), memory_.get(), 0, VK_WHOLE_SIZE, 0, &address),
                      "vkMapMemory"));
  mapped_ = static_cast<std::byte*>(address);
  return Status::Ok();
}

VkMappedMemoryRange VulkanBuffer::WholeAtoms(uint64_t offset_bytes, uint64_t size_bytes) const {
  const uint64_t atom = device_->physical().non_coherent_atom_bytes;
  VkMappedMemoryRange range{VK_STRUCTURE_TYPE_MAPPED_MEMORY_RANGE};
  range.memory = memory_.get();
  range.offset = offset_bytes / atom * atom;
  const uint64_t end = RoundUp(offset_bytes + size_bytes, atom);
  range.size = end < allocated_bytes_ ? end - range.offset : VK_WHOLE_SIZE;
  return range;
}

Status VulkanBuffer::Flush(uint64_t offset_bytes, uint64_t size_bytes) const {
  if (is_coherent_) return Status::Ok();
  const VkMappedMemoryRange range = WholeAtoms(offset_bytes, size_bytes);
  return ToStatus(device_->api().FlushMappedMemoryRanges(device_->handle(), 1, &range), "vkFlushMappedMemoryRanges");
}

Status VulkanBuffer::Invalidate(uint64_t offset_bytes, uint64_t size_bytes) const {
  if (is_coherent_) return Status::Ok();
  const VkMappedMemoryRange range = WholeAtoms(offset_bytes, size_bytes);
  return ToStatus(device_->api().InvalidateMappedMemoryRanges(device_->handle(), 1, &range),
                  "vkInvalidateMappedMemoryRanges");
}

Result<VkBufferView> VulkanBuffer::TexelView(uint64_t offset_bytes, uint64_t size_bytes, VkFormat format) {
  const auto key = std::tuple(offset_bytes, size_bytes, format);
  if (const auto found = views_.find(key); found != views_.end()) return found->second.get();
  VkBufferViewCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO};
  info.buffer = handle();
  info.format = format;
  info.offset = offset_bytes;
  info.range = size_bytes;
  const DeviceApi& api = device_->api();
  HEARTH_ASSIGN(auto view, device_->Make(api.CreateBufferView, api.DestroyBufferView, info, "vkCreateBufferView"));
  return views_.emplace(key, std::move(view)).first->second.get();
}

Status CopyBytes(LogicalDevice& device, const VulkanBuffer& from, uint64_t from_offset_bytes, const VulkanBuffer& to,
                 uint64_t to_offset_bytes, uint64_t size_bytes) {
  HEARTH_ASSIGN(auto commands, RecordedCommands::Record(device, [&](VkCommandBuffer buffer) {
                  const VkBufferCopy region{from_offset_bytes, to_offset_bytes, size_bytes};
                  device.api().CmdCopyBuffer(buffer, from.handle(), to.handle(), 1, &region);
                }));
  return commands.SubmitAndWait();
}

}  // namespace hearth::vulkan
