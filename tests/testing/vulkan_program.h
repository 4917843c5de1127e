// A program's own Vulkan objects, which sessions share in tests.
#ifndef HEARTH_TESTS_TESTING_VULKAN_PROGRAM_H_
#define HEARTH_TESTS_TESTING_VULKAN_PROGRAM_H_

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "backends/vulkan/driver_api.h"
#include "hearth/interop.h"

namespace hearth::testing {

// Keeps an instance forever: a driver is unloaded with its last instance, and lavapipe then leaks memory that only its
// own variables pointed to.
inline void KeepTheDriverLoaded() {
  static const VkInstance kept = [] {
    VkInstance instance = VK_NULL_HANDLE;
    auto loader = vulkan::LoadLoaderApi();
    if (!loader.ok()) return instance;
    const VkInstanceCreateInfo info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
    if (loader->CreateInstance(&info, nullptr, &instance) != VK_SUCCESS) return VkInstance(VK_NULL_HANDLE);
    loader->library.Leak();
    return instance;
  }();
  static_cast<void>(kept);
}

// The device has one queue, of family 0, and timeline semaphores.
class VulkanProgram {
 public:
  ~VulkanProgram() {
    for (VkSemaphore semaphore : semaphores_) destroy_semaphore_(device_, semaphore, nullptr);
    if (device_ != VK_NULL_HANDLE) api_.DestroyDevice(device_, nullptr);
    if (instance_ != VK_NULL_HANDLE) instance_api_.DestroyInstance(instance_, nullptr);
  }
  std::string Open() {
    KeepTheDriverLoaded();
    auto loader = vulkan::LoadLoaderApi();
    if (!loader.ok()) return loader.status().message();
    loader_ = std::move(loader).value();
    VkApplicationInfo application{VK_STRUCTURE_TYPE_APPLICATION_INFO};
    application.apiVersion = VK_API_VERSION_1_2;
    VkInstanceCreateInfo info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
    info.pApplicationInfo = &application;
    if (loader_.CreateInstance(&info, nullptr, &instance_) != VK_SUCCESS) return "no Vulkan driver";
    auto api = vulkan::LoadInstanceApi(loader_, instance_);
    if (!api.ok()) return api.status().message();
    instance_api_ = *api;
    uint32_t count = 1;
    if (instance_api_.EnumeratePhysicalDevices(instance_, &count, &physical_) < 0 || count == 0) return "no device";
    return OpenDevice();
  }
  VulkanContext shared() const { return {instance_, physical_, device_, queue_, 0}; }
  const vulkan::DeviceApi& api() const { return api_; }
  VkDevice device() const { return device_; }
  const vulkan::InstanceApi& instance_api() const { return instance_api_; }
  VkPhysicalDevice physical() const { return physical_; }
  VkQueue queue() const { return queue_; }

  // Host-visible memory; returns its mapped address.
  std::pair<VkBuffer, std::byte*> Buffer(size_t size_bytes) {
    VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
    info.size = size_bytes;
    info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT;
    VkBuffer buffer = VK_NULL_HANDLE;
    EXPECT_EQ(api_.CreateBuffer(device_, &info, nullptr, &buffer), VK_SUCCESS);
    VkMemoryRequirements needed{};
    api_.GetBufferMemoryRequirements(device_, buffer, &needed);
    VkMemoryAllocateInfo allocate{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
    allocate.allocationSize = needed.size;
    allocate.memoryTypeIndex = MappableType(needed.memoryTypeBits);
    VkDeviceMemory memory = VK_NULL_HANDLE;
    EXPECT_EQ(api_.AllocateMemory(device_, &allocate, nullptr, &memory), VK_SUCCESS);
    EXPECT_EQ(api_.BindBufferMemory(device_, buffer, memory, 0), VK_SUCCESS);
    void* address = nullptr;
    EXPECT_EQ(api_.MapMemory(device_, memory, 0, VK_WHOLE_SIZE, 0, &address), VK_SUCCESS);
    allocations_.push_back({buffer, memory, static_cast<std::byte*>(address)});
    return {buffer, static_cast<std::byte*>(address)};
  }
  const std::byte* AddressOf(VkBuffer buffer) const {
    for (const Allocation& allocation : allocations_) {
      if (allocation.buffer == buffer) return allocation.address;
    }
    return nullptr;
  }
  void FreeBuffers() {
    for (const Allocation& allocation : allocations_) {
      api_.DestroyBuffer(device_, allocation.buffer, nullptr);
      api_.FreeMemory(device_, allocation.memory, nullptr);
    }
    allocations_.clear();
  }

  VkSemaphore Timeline() {
    VkSemaphoreTypeCreateInfo type{VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO};
    type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
    VkSemaphoreCreateInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    info.pNext = &type;
    VkSemaphore semaphore = VK_NULL_HANDLE;
    EXPECT_EQ(create_semaphore_(device_, &info, nullptr, &semaphore), VK_SUCCESS);
    semaphores_.push_back(semaphore);
    return semaphore;
  }
  void Signal(VkSemaphore semaphore, uint64_t value) {
    VkSemaphoreSignalInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO};
    info.semaphore = semaphore;
    info.value = value;
    EXPECT_EQ(signal_(device_, &info), VK_SUCCESS);
  }
  void Wait(VkSemaphore semaphore, uint64_t value) {
    VkSemaphoreWaitInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO};
    info.semaphoreCount = 1;
    info.pSemaphores = &semaphore;
    info.pValues = &value;
    EXPECT_EQ(wait_(device_, &info, UINT64_MAX), VK_SUCCESS);
  }

  template <typename Fn>
  void Find(const char* name, Fn& function) {
    function = reinterpret_cast<Fn>(instance_api_.GetDeviceProcAddr(device_, name));
  }
  uint32_t MappableType(uint32_t allowed_bits) const {
    VkPhysicalDeviceMemoryProperties memory{};
    instance_api_.GetPhysicalDeviceMemoryProperties(physical_, &memory);
    constexpr VkMemoryPropertyFlags kNeeded =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    for (uint32_t t = 0; t < memory.memoryTypeCount; ++t) {
      if ((allowed_bits >> t & 1) != 0 && (memory.memoryTypes[t].propertyFlags & kNeeded) == kNeeded) return t;
    }
    return 0;
  }

 private:
  struct Allocation {
    VkBuffer buffer;
    VkDeviceMemory memory;
    std::byte* address;
  };

  std::string OpenDevice() {
    const float priority = 1;
    VkDeviceQueueCreateInfo queue{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
    queue.queueCount = 1;
    queue.pQueuePriorities = &priority;
    VkPhysicalDeviceTimelineSemaphoreFeatures timeline{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES};
    timeline.timelineSemaphore = VK_TRUE;
    VkDeviceCreateInfo info{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
    info.pNext = &timeline;
    info.queueCreateInfoCount = 1;
    info.pQueueCreateInfos = &queue;
    if (instance_api_.CreateDevice(physical_, &info, nullptr, &device_) != VK_SUCCESS)
      return "no device with timelines";
    auto api = vulkan::LoadDeviceApi(instance_api_, device_);
    if (!api.ok()) return api.status().message();
    api_ = *api;
    api_.GetDeviceQueue(device_, 0, 0, &queue_);
    Find("vkCreateSemaphore", create_semaphore_);
    Find("vkDestroySemaphore", destroy_semaphore_);
    Find("vkSignalSemaphore", signal_);
    Find("vkWaitSemaphores", wait_);
    return "";
  }
  vulkan::LoaderApi loader_;
  vulkan::InstanceApi instance_api_;
  vulkan::DeviceApi api_;
  VkInstance instance_ = VK_NULL_HANDLE;
  VkPhysicalDevice physical_ = VK_NULL_HANDLE;
  VkDevice device_ = VK_NULL_HANDLE;
  VkQueue queue_ = VK_NULL_HANDLE;
  std::vector<Allocation> allocations_;
  std::vector<VkSemaphore> semaphores_;
  PFN_vkCreateSemaphore create_semaphore_ = nullptr;
  PFN_vkDestroySemaphore destroy_semaphore_ = nullptr;
  PFN_vkSignalSemaphore signal_ = nullptr;
  PFN_vkWaitSemaphores wait_ = nullptr;
};

}  // namespace hearth::testing

#endif  // HEARTH_TESTS_TESTING_VULKAN_PROGRAM_H_
