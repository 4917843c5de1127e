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
    for (VkSemaphore semaphore : semaphores_) vkDestroySemaphore(device_, semaphore, nullptr);
    vkDestroyDevice(device_, nullptr);
  }
  if (instance_ != VK_NULL_HANDLE) vkDestroyInstance(instance_, nullptr);
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
  VkPhysicalDeviceMemoryProperties memory;
  vkGetPhysicalDeviceMemoryProperties(physical_, &memory);
  constexpr VkMemoryPropertyFlags kMappable =
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  VkMemoryAllocateInfo allocate{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  allocate.allocationSize = needed.size;
  for (uint32_t t = 0; t < memory.memoryTypeCount && made.memory == VK_NULL_HANDLE; ++t) {
    if ((needed.memoryTypeBits >> t & 1) == 0 || (memory.memoryTypes[t].propertyFlags & kMappable) != kMappable)
      continue;
    allocate.memoryTypeIndex = t;
    if (vkAllocateMemory(device_, &allocate, nullptr, &made.memory) != VK_SUCCESS) made.memory = VK_NULL_HANDLE;
  }
  if (made.memory == VK_NULL_HANDLE || vkBindBufferMemory(device_, made.buffer, made.memory, 0) != VK_SUCCESS ||
      vkMapMemory(device_, made.memory, 0, VK_WHOLE_SIZE, 0, &made.address) != VK_SUCCESS) {
    vkFreeMemory(device_, made.memory, nullptr);
    vkDestroyBuffer(device_, made.buffer, nullptr);
    return {};
  }
  buffers_.push_back(made);
  return made;
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
