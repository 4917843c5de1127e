// Buffers of VulkanBuffer in memory that other drivers made: dma-bufs and AHardwareBuffers.
#include <algorithm>
#include <vector>

#include "backends/vulkan/buffer.h"
#include "core/base/error.h"
#include "hal/io/dma_buf.h"

namespace hearth::vulkan {
namespace {

constexpr VkExternalMemoryHandleTypeFlagBits kDmaBuf = VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT,
                                             kHardwareBuffer =
                                                 VK_EXTERNAL_MEMORY_HANDLE_TYPE_ANDROID_HARDWARE_BUFFER_BIT_ANDROID;

Status TakesLinearMemory(const LogicalDevice& device) {
  VkPhysicalDeviceExternalBufferInfo asked{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO};
  asked.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
  asked.handleType = kDmaBuf;
  VkExternalBufferProperties answer{VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES};
  const PhysicalDevice& physical = device.physical();
  physical.instance->api.GetPhysicalDeviceExternalBufferProperties(physical.handle, &asked, &answer);
  const VkExternalMemoryFeatureFlags features = answer.externalMemoryProperties.externalMemoryFeatures;
  if ((features & VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT) != 0) return Status::Ok();
  return Error(StatusCode::kUnsupported, "{} takes no dma-buf as a buffer", device.info().name);
}

VkFormat FormatOf(PixelFormat pixels) {
  switch (pixels) {
    case PixelFormat::kRgba8: return VK_FORMAT_R8G8B8A8_UNORM;
    case PixelFormat::kBgra8: return VK_FORMAT_B8G8R8A8_UNORM;
    case PixelFormat::kNv12: return VK_FORMAT_G8_B8R8_2PLANE_420_UNORM;
    case PixelFormat::kI420: return VK_FORMAT_G8_B8_R8_3PLANE_420_UNORM;
    default: return VK_FORMAT_UNDEFINED;
  }
}

VkImageCreateInfo ImageInfo(const NativeMemory& memory, VkFormat format, VkImageTiling tiling) {
  VkImageCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
  info.imageType = VK_IMAGE_TYPE_2D;
  info.format = format;
  info.extent = {memory.width, memory.height, 1};
  info.mipLevels = info.arrayLayers = 1;
  info.samples = VK_SAMPLE_COUNT_1_BIT;
  info.tiling = tiling;
  info.usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
  return info;
}

// In how many planes such images lie with this modifier, which need not be the format's number; 0 where the driver does
// not know the modifier.
uint32_t MemoryPlanes(const PhysicalDevice& physical, VkFormat format, uint64_t modifier) {
  VkDrmFormatModifierPropertiesListEXT list{VK_STRUCTURE_TYPE_DRM_FORMAT_MODIFIER_PROPERTIES_LIST_EXT};
  VkFormatProperties2 properties{VK_STRUCTURE_TYPE_FORMAT_PROPERTIES_2};
  properties.pNext = &list;
  const auto ask = [&] {
    physical.instance->api.GetPhysicalDeviceFormatProperties2(physical.handle, format, &properties);
  };
  ask();
  std::vector<VkDrmFormatModifierPropertiesEXT> modifiers(list.drmFormatModifierCount);
  list.pDrmFormatModifierProperties = modifiers.data();
  ask();
  modifiers.resize(std::min<size_t>(modifiers.size(), list.drmFormatModifierCount));
  const auto found = std::ranges::find(modifiers, modifier, &VkDrmFormatModifierPropertiesEXT::drmFormatModifier);
  return found != modifiers.end() ? found->drmFormatModifierPlaneCount : 0;
}

// Whether the driver imports dma-bufs with this modifier as such images, in this size and number of planes.
Status TakesImage(const LogicalDevice& device, const VkImageCreateInfo& image, uint64_t modifier, uint32_t planes) {
  VkPhysicalDeviceImageDrmFormatModifierInfoEXT drm{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_DRM_FORMAT_MODIFIER_INFO_EXT};
  drm.drmFormatModifier = modifier;
  VkPhysicalDeviceExternalImageFormatInfo external{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_IMAGE_FORMAT_INFO};
  external.pNext = &drm;
  external.handleType = kDmaBuf;
  VkPhysicalDeviceImageFormatInfo2 asked{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_IMAGE_FORMAT_INFO_2};
  asked.pNext = &external;
  asked.format = image.format;
  asked.type = image.imageType;
  asked.tiling = image.tiling;
  asked.usage = image.usage;
  VkExternalImageFormatProperties answer{VK_STRUCTURE_TYPE_EXTERNAL_IMAGE_FORMAT_PROPERTIES};
  VkImageFormatProperties2 properties{VK_STRUCTURE_TYPE_IMAGE_FORMAT_PROPERTIES_2};
  properties.pNext = &answer;
  const PhysicalDevice& physical = device.physical();
  const VkResult result =
      physical.instance->api.GetPhysicalDeviceImageFormatProperties2(physical.handle, &asked, &properties);
  const VkExternalMemoryFeatureFlags features = answer.externalMemoryProperties.externalMemoryFeatures;
  const uint32_t known_planes = MemoryPlanes(physical, image.format, modifier);
  if (result != VK_SUCCESS || (features & VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT) == 0 || known_planes == 0) {
    return Error(StatusCode::kUnsupported, "{} takes no dma-buf with the modifier 0x{:x} as an image of this format",
                 device.info().name, modifier);
  }
  if (planes != known_planes) {
    return Error(StatusCode::kUnsupported, "the frame has {} plane(s); with the modifier 0x{:x} it has {} on {}",
                 planes, modifier, known_planes, device.info().name);
  }
  const VkExtent3D& most = properties.imageFormatProperties.maxExtent;
  if (image.extent.width <= most.width && image.extent.height <= most.height) return Status::Ok();
  return Error(StatusCode::kUnsupported, "the frame has {} x {} pixels; with the modifier 0x{:x} {} takes {} x {}",
               image.extent.width, image.extent.height, modifier, device.info().name, most.width, most.height);
}

// The index of the type among `type_bits` that lent memory is imported with. Any that the driver lists for it is valid.
Result<uint32_t> TypeOfImport(const LogicalDevice& device, uint32_t type_bits, std::string_view lent) {
  const PhysicalDevice& physical = device.physical();
  const std::vector<MemoryType> types =
      TypesByFitness(physical.memory_types, type_bits, MemoryUse::kKernels, physical.info.unified_memory);
  if (types.empty())
    return Error(StatusCode::kUnsupported, "no memory type of {} fits the {}", device.info().name, lent);
  return types.front().index;
}

// Memory of a dma-buf for one buffer or image, which `dedicated` names.
Result<Owned<VkDeviceMemory>> ImportDescriptor(const LogicalDevice& device, uint64_t descriptor,
                                               const VkMemoryRequirements& needed,
                                               const VkMemoryDedicatedAllocateInfo& dedicated) {
  const DeviceApi& api = device.api();
  HEARTH_ASSIGN(Descriptor lent, DescriptorForDriver(descriptor));
  VkMemoryFdPropertiesKHR properties{VK_STRUCTURE_TYPE_MEMORY_FD_PROPERTIES_KHR};
  HEARTH_TRY(ToStatus(api.GetMemoryFdPropertiesKHR(device.handle(), kDmaBuf, lent.get(), &properties),
                      "vkGetMemoryFdPropertiesKHR"));
  // lavapipe 25.0 answers that no type fits, and then takes the memory.
  const uint32_t fitting_bits = properties.memoryTypeBits != 0 ? properties.memoryTypeBits : UINT32_MAX;
  HEARTH_ASSIGN(const uint32_t type, TypeOfImport(device, needed.memoryTypeBits & fitting_bits, "dma-buf"));
  VkImportMemoryFdInfoKHR import{VK_STRUCTURE_TYPE_IMPORT_MEMORY_FD_INFO_KHR};
  import.pNext = &dedicated;
  import.handleType = kDmaBuf;
  import.fd = lent.get();
  VkMemoryAllocateInfo allocate{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  allocate.pNext = &import;
  allocate.allocationSize = needed.size;
  allocate.memoryTypeIndex = type;
  HEARTH_ASSIGN(auto memory, device.Make(api.AllocateMemory, api.FreeMemory, allocate, "vkAllocateMemory"));
  lent.Release();
  return memory;
}

// The planes of a dma-buf in tiles, all in the first one's memory.
Result<std::vector<VkSubresourceLayout>> PlanesInMemory(const NativeMemory& memory) {
  std::vector<VkSubresourceLayout> layouts;
  for (const FramePlane& plane : memory.external_planes) {
    if (plane.handle != 0 && plane.handle != memory.handle)
      return Error(StatusCode::kUnsupported, "planes with a modifier lie in several dma-bufs; put them into one");
    VkSubresourceLayout& layout = layouts.emplace_back();
    layout.offset = plane.offset_bytes;
    layout.rowPitch = plane.row_pitch_bytes;
  }
  return layouts;
}

}  // namespace

Result<std::unique_ptr<VulkanBuffer>> VulkanBuffer::ImportExternal(LogicalDevice& device, const NativeMemory& memory) {
  const bool is_dma_buf = memory.kind == MemoryKind::kDmaBuf;
  const DeviceApi& api = device.api();
  if (is_dma_buf ? api.GetMemoryFdPropertiesKHR == nullptr : api.GetAndroidHardwareBufferPropertiesANDROID == nullptr) {
    return Error(StatusCode::kUnsupported, "{} was opened without {}", device.info().name,
                 is_dma_buf ? "VK_EXT_external_memory_dma_buf" : "VK_ANDROID_external_memory_android_hardware_buffer");
  }
  if (is_dma_buf && memory.drm_modifier == 0) return ImportLinear(device, memory);
  HEARTH_ASSIGN(auto buffer, Create(device, memory.size_bytes, MemoryUse::kKernels));
  HEARTH_TRY(is_dma_buf ? buffer->ImportTexels(memory) : buffer->ImportHardwareBuffer(memory));
  buffer->image_ = buffer->owned_image_.get();
  buffer->image_layout_ = VK_IMAGE_LAYOUT_GENERAL;  // of images that another driver uses
  buffer->owner_ = device.foreign_family();
  buffer->SetPlanes(memory);
  return buffer;
}

Result<std::unique_ptr<VulkanBuffer>> VulkanBuffer::ImportLinear(LogicalDevice& device, const NativeMemory& memory) {
  HEARTH_TRY(TakesLinearMemory(device));
  const DeviceApi& api = device.api();
  std::unique_ptr<VulkanBuffer> buffer(new VulkanBuffer(device, memory.size_bytes));
  VkExternalMemoryBufferCreateInfo external{VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO};
  external.handleTypes = kDmaBuf;
  VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.pNext = &external;
  info.size = memory.size_bytes;
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
  HEARTH_ASSIGN(buffer->buffer_, device.Make(api.CreateBuffer, api.DestroyBuffer, info, "vkCreateBuffer"));
  buffer->handle_ = buffer->buffer_.get();
  VkMemoryRequirements needed{};
  api.GetBufferMemoryRequirements(device.handle(), buffer->handle_, &needed);
  if (needed.size > memory.size_bytes) {
    return Error(StatusCode::kUnsupported, "{} needs {} bytes for the dma-buf of {} bytes", device.info().name,
                 needed.size, memory.size_bytes);
  }
  VkMemoryDedicatedAllocateInfo dedicated{VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO};
  dedicated.buffer = buffer->handle_;
  HEARTH_ASSIGN(buffer->memory_, ImportDescriptor(device, memory.handle, needed, dedicated));
  HEARTH_TRY(
      ToStatus(api.BindBufferMemory(device.handle(), buffer->handle_, buffer->memory_.get(), 0), "vkBindBufferMemory"));
  buffer->owner_ = device.foreign_family();
  return buffer;
}

Status VulkanBuffer::ImportTexels(const NativeMemory& memory) {
  const DeviceApi& api = device_->api();
  if (api.GetImageDrmFormatModifierPropertiesEXT == nullptr) {
    return Error(StatusCode::kUnsupported, "{} was opened without VK_EXT_image_drm_format_modifier",
                 device_->info().name);
  }
  HEARTH_ASSIGN(const std::vector<VkSubresourceLayout> layouts, PlanesInMemory(memory));
  VkImageDrmFormatModifierExplicitCreateInfoEXT drm{
      VK_STRUCTURE_TYPE_IMAGE_DRM_FORMAT_MODIFIER_EXPLICIT_CREATE_INFO_EXT};
  drm.drmFormatModifier = memory.drm_modifier;
  drm.drmFormatModifierPlaneCount = static_cast<uint32_t>(layouts.size());
  drm.pPlaneLayouts = layouts.data();
  VkExternalMemoryImageCreateInfo external{VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO};
  external.pNext = &drm;
  external.handleTypes = kDmaBuf;
  VkImageCreateInfo info = ImageInfo(memory, FormatOf(memory.pixels), VK_IMAGE_TILING_DRM_FORMAT_MODIFIER_EXT);
  HEARTH_TRY(TakesImage(*device_, info, memory.drm_modifier, drm.drmFormatModifierPlaneCount));
  info.pNext = &external;
  HEARTH_ASSIGN(owned_image_, device_->Make(api.CreateImage, api.DestroyImage, info, "vkCreateImage"));
  VkMemoryRequirements needed{};
  api.GetImageMemoryRequirements(device_->handle(), owned_image_.get(), &needed);
  if (needed.size > memory.external_planes[0].size_bytes) {
    return Error(StatusCode::kUnsupported, "{} needs {} bytes for the picture, and the dma-buf has {}",
                 device_->info().name, needed.size, memory.external_planes[0].size_bytes);
  }
  VkMemoryDedicatedAllocateInfo dedicated{VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO};
  dedicated.image = owned_image_.get();
  HEARTH_ASSIGN(image_memory_, ImportDescriptor(*device_, memory.handle, needed, dedicated));
  return ToStatus(api.BindImageMemory(device_->handle(), owned_image_.get(), image_memory_.get(), 0),
                  "vkBindImageMemory");
}

Status VulkanBuffer::ImportHardwareBuffer(const NativeMemory& memory) {
  const DeviceApi& api = device_->api();
  auto* const lent = reinterpret_cast<AHardwareBuffer*>(memory.handle);
  VkAndroidHardwareBufferFormatPropertiesANDROID format{
      VK_STRUCTURE_TYPE_ANDROID_HARDWARE_BUFFER_FORMAT_PROPERTIES_ANDROID};
  VkAndroidHardwareBufferPropertiesANDROID properties{VK_STRUCTURE_TYPE_ANDROID_HARDWARE_BUFFER_PROPERTIES_ANDROID};
  properties.pNext = &format;
  HEARTH_TRY(ToStatus(api.GetAndroidHardwareBufferPropertiesANDROID(device_->handle(), lent, &properties),
                      "vkGetAndroidHardwareBufferPropertiesANDROID"));
  // A format of the vendor's own can only be sampled, through the vendor's conversion.
  if (format.format != FormatOf(memory.pixels)) {
    return Error(StatusCode::kUnsupported, "{} gives the AHardwareBuffer the VkFormat {}", device_->info().name,
                 static_cast<int>(format.format));
  }
  HEARTH_ASSIGN(const uint32_t type, TypeOfImport(*device_, properties.memoryTypeBits, "AHardwareBuffer"));
  VkExternalMemoryImageCreateInfo external{VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO};
  external.handleTypes = kHardwareBuffer;
  VkImageCreateInfo info = ImageInfo(memory, format.format, VK_IMAGE_TILING_OPTIMAL);
  info.pNext = &external;
  HEARTH_ASSIGN(owned_image_, device_->Make(api.CreateImage, api.DestroyImage, info, "vkCreateImage"));
  VkMemoryDedicatedAllocateInfo dedicated{VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO};
  dedicated.image = owned_image_.get();
  VkImportAndroidHardwareBufferInfoANDROID import{VK_STRUCTURE_TYPE_IMPORT_ANDROID_HARDWARE_BUFFER_INFO_ANDROID};
  import.pNext = &dedicated;
  import.buffer = lent;
  VkMemoryAllocateInfo allocate{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  allocate.pNext = &import;
  allocate.allocationSize = properties.allocationSize;
  allocate.memoryTypeIndex = type;
  HEARTH_ASSIGN(image_memory_, device_->Make(api.AllocateMemory, api.FreeMemory, allocate, "vkAllocateMemory"));
  return ToStatus(api.BindImageMemory(device_->handle(), owned_image_.get(), image_memory_.get(), 0),
                  "vkBindImageMemory");
}

void VulkanBuffer::RecordBeforeRead(VkCommandBuffer commands) const {
  image_ != VK_NULL_HANDLE ? RecordImageCopy(commands) : RecordOwnership(commands, true);
}

void VulkanBuffer::RecordAfterRead(VkCommandBuffer commands) const {
  if (image_ == VK_NULL_HANDLE) RecordOwnership(commands, false);  // an image was given back after the copy
}

void VulkanBuffer::RecordOwnership(VkCommandBuffer commands, bool is_acquired) const {
  VkBufferMemoryBarrier barrier{VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER};
  barrier.srcQueueFamilyIndex = is_acquired ? owner_ : device_->physical().queue_family;
  barrier.dstQueueFamilyIndex = is_acquired ? device_->physical().queue_family : owner_;
  (is_acquired ? barrier.dstAccessMask : barrier.srcAccessMask) = VK_ACCESS_SHADER_READ_BIT;
  barrier.buffer = handle_;
  barrier.size = VK_WHOLE_SIZE;
  constexpr VkPipelineStageFlags kKernels = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                                 kAll = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
  device_->api().CmdPipelineBarrier(commands, is_acquired ? kAll : kKernels, is_acquired ? kKernels : kAll, 0, 0,
                                    nullptr, 1, &barrier, 0, nullptr);
}

}  // namespace hearth::vulkan
