#include "zero_copy_vulkan/vulkan_device.h"

namespace examples {

std::string VulkanDevice::Open() {
  VkApplicationInfo application{VK_STRUCTURE_TYPE_APPLICATION_INFO};
  application.pApplicationName = "zero_copy_vulkan";
  application.apiVersion = VK_API_VERSION_1_2;
  VkInstanceCreateInfo info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
  info.pApplicationInfo = &application;
  if (vkCreateInstance(&info, nullptr, &instance_) != VK_SUCCESS) return "no Vulkan driver";
  uint32_t count = 1;
  if (vkEnumeratePhysicalDevices(instance_, &count, &physical_) < 0 || count == 0) return "no Vulkan device";
  return OpenDevice();
}

std::string VulkanDevice::OpenDevice() {
  uint32_t count = 0;
  vkGetPhysicalDeviceQueueFamilyProperties(physical_, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  vkGetPhysicalDeviceQueueFamilyProperties(physical_, &count, families.data());
  while (queue_family_ < count && (families[queue_family_].queueFlags & VK_QUEUE_COMPUTE_BIT) == 0) ++queue_family_;
  if (queue_family_ == count) return "no queue that computes";

  const float priority = 1;
  VkDeviceQueueCreateInfo queue{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
  queue.queueFamilyIndex = queue_family_;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  VkPhysicalDeviceTimelineSemaphoreFeatures timeline{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES};
  timeline.timelineSemaphore = VK_TRUE;
  VkDeviceCreateInfo info{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
  info.pNext = &timeline;
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queue;
  if (vkCreateDevice(physical_, &info, nullptr, &device_) != VK_SUCCESS) return "no device with timeline semaphores";
  vkGetDeviceQueue(device_, queue_family_, 0, &queue_);
  return "";
}

VkSemaphore VulkanDevice::MakeTimeline() {
  VkSemaphoreTypeCreateInfo type{VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO};
  type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
  VkSemaphoreCreateInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
  info.pNext = &type;
  VkSemaphore semaphore = VK_NULL_HANDLE;
  if (vkCreateSemaphore(device_, &info, nullptr, &semaphore) != VK_SUCCESS) return VK_NULL_HANDLE;
  semaphores_.push_back(semaphore);
  return semaphore;
}

VulkanDevice::~VulkanDevice() {
  if (device_ != VK_NULL_HANDLE) {
    vkDeviceWaitIdle(device_);
    for (const MappedBuffer& buffer : buffers_) {
      vkDestroyBuffer(device_, buffer.buffer, nullptr);
      vkFreeMemory(device_, buffer.memory, nullptr);
    }
    for (const MappedImage& image : images_) {
      vkDestroyImage(device_, image.image, nullptr);
      vkFreeMemory(device_, image.memory, nullptr);
    }
    for (VkSemaphore semaphore : semaphores_) vkDestroySemaphore(device_, semaphore, nullptr);
    vkDestroyDevice(device_, nullptr);
  }
  if (instance_ != VK_NULL_HANDLE) vkDestroyInstance(instance_, nullptr);
}

VkDeviceMemory VulkanDevice::Allocate(const VkMemoryRequirements& needed) {
  VkPhysicalDeviceMemoryProperties memory;
  vkGetPhysicalDeviceMemoryProperties(physical_, &memory);
  constexpr VkMemoryPropertyFlags kMappable =
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  VkMemoryAllocateInfo allocate{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  allocate.allocationSize = needed.size;
  VkDeviceMemory allocated = VK_NULL_HANDLE;
  for (uint32_t t = 0; t < memory.memoryTypeCount && allocated == VK_NULL_HANDLE; ++t) {
    if ((needed.memoryTypeBits >> t & 1) == 0 || (memory.memoryTypes[t].propertyFlags & kMappable) != kMappable)
      continue;
    allocate.memoryTypeIndex = t;
    if (vkAllocateMemory(device_, &allocate, nullptr, &allocated) != VK_SUCCESS) allocated = VK_NULL_HANDLE;
  }
  return allocated;
}

MappedBuffer VulkanDevice::MakeBuffer(uint64_t size_bytes) {
  MappedBuffer made;
  made.size_bytes = size_bytes;
  VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.size = size_bytes;
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
  if (vkCreateBuffer(device_, &info, nullptr, &made.buffer) != VK_SUCCESS) return {};
  VkMemoryRequirements needed;
  vkGetBufferMemoryRequirements(device_, made.buffer, &needed);
  made.memory = Allocate(needed);
  if (made.memory == VK_NULL_HANDLE || vkBindBufferMemory(device_, made.buffer, made.memory, 0) != VK_SUCCESS ||
      vkMapMemory(device_, made.memory, 0, VK_WHOLE_SIZE, 0, &made.address) != VK_SUCCESS) {
    vkFreeMemory(device_, made.memory, nullptr);
    vkDestroyBuffer(device_, made.buffer, nullptr);
    return {};
  }
  buffers_.push_back(made);
  return made;
}

MappedImage VulkanDevice::MakeImage(uint32_t width, uint32_t height) {
  VkImageCreateInfo info{VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
  info.imageType = VK_IMAGE_TYPE_2D;
  info.format = VK_FORMAT_R8G8B8A8_UNORM;
  info.extent = {width, height, 1};
  info.mipLevels = info.arrayLayers = 1;
  info.samples = VK_SAMPLE_COUNT_1_BIT;
  info.tiling = VK_IMAGE_TILING_LINEAR;
  info.usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT;  // all that a session needs of it
  info.initialLayout = VK_IMAGE_LAYOUT_PREINITIALIZED;
  MappedImage made;
  if (vkCreateImage(device_, &info, nullptr, &made.image) != VK_SUCCESS) return {};
  VkMemoryRequirements needed;
  vkGetImageMemoryRequirements(device_, made.image, &needed);
  made.memory = Allocate(needed);
  void* address = nullptr;
  if (made.memory == VK_NULL_HANDLE || vkBindImageMemory(device_, made.image, made.memory, 0) != VK_SUCCESS ||
      vkMapMemory(device_, made.memory, 0, VK_WHOLE_SIZE, 0, &address) != VK_SUCCESS ||
      !IntoGeneralLayout(made.image)) {
    vkDestroyImage(device_, made.image, nullptr);
    vkFreeMemory(device_, made.memory, nullptr);
    return {};
  }
  const VkImageSubresource whole{VK_IMAGE_ASPECT_COLOR_BIT, 0, 0};
  VkSubresourceLayout layout;
  vkGetImageSubresourceLayout(device_, made.image, &whole, &layout);
  made.pixels = static_cast<std::byte*>(address) + layout.offset;
  made.row_pitch_bytes = layout.rowPitch;
  images_.push_back(made);
  return made;
}

bool VulkanDevice::IntoGeneralLayout(VkImage image) {
  VkCommandPoolCreateInfo pool_info{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  pool_info.queueFamilyIndex = queue_family_;
  VkCommandPool pool = VK_NULL_HANDLE;
  if (vkCreateCommandPool(device_, &pool_info, nullptr, &pool) != VK_SUCCESS) return false;
  VkCommandBufferAllocateInfo allocate{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
  allocate.commandPool = pool;
  allocate.commandBufferCount = 1;
  VkCommandBuffer commands = VK_NULL_HANDLE;
  const VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  bool done = vkAllocateCommandBuffers(device_, &allocate, &commands) == VK_SUCCESS &&
              vkBeginCommandBuffer(commands, &begin) == VK_SUCCESS;
  if (done) {
    VkImageMemoryBarrier barrier{VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER};
    barrier.srcAccessMask = VK_ACCESS_HOST_WRITE_BIT;
    barrier.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT;
    barrier.oldLayout = VK_IMAGE_LAYOUT_PREINITIALIZED;
    barrier.newLayout = VK_IMAGE_LAYOUT_GENERAL;
    barrier.srcQueueFamilyIndex = barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
    barrier.image = image;
    barrier.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_HOST_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, nullptr, 0,
                         nullptr, 1, &barrier);
    VkSubmitInfo submit{VK_STRUCTURE_TYPE_SUBMIT_INFO};
    submit.commandBufferCount = 1;
    submit.pCommandBuffers = &commands;
    done = vkEndCommandBuffer(commands) == VK_SUCCESS &&
           vkQueueSubmit(queue_, 1, &submit, VK_NULL_HANDLE) == VK_SUCCESS && vkQueueWaitIdle(queue_) == VK_SUCCESS;
  }
  vkDestroyCommandPool(device_, pool, nullptr);
  return done;
}

void VulkanDevice::Signal(VkSemaphore semaphore, uint64_t value) {
  VkSemaphoreSignalInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO};
  info.semaphore = semaphore;
  info.value = value;
  vkSignalSemaphore(device_, &info);
}

void VulkanDevice::Wait(VkSemaphore semaphore, uint64_t value) {
  VkSemaphoreWaitInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO};
  info.semaphoreCount = 1;
  info.pSemaphores = &semaphore;
  info.pValues = &value;
  vkWaitSemaphores(device_, &info, UINT64_MAX);
}

}  // namespace examples
