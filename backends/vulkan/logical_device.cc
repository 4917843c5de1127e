#include "backends/vulkan/logical_device.h"

#include <vector>

#include "core/error.h"

namespace hearth::vulkan {
namespace {

Result<VkDevice> CreateDevice(const PhysicalDevice& physical) {
  const float priority = 1.0f;
  VkDeviceQueueCreateInfo queue{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
  queue.queueFamilyIndex = physical.queue_family;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;

  VkPhysicalDevice16BitStorageFeatures storage{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES};
  storage.storageBuffer16BitAccess = physical.storage_buffer_16bit ? VK_TRUE : VK_FALSE;
  VkPhysicalDeviceShaderFloat16Int8Features arithmetic{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES};
  arithmetic.shaderFloat16 = VK_TRUE;
  std::vector<const char*> extensions;
  if (physical.shader_float16) {
    storage.pNext = &arithmetic;
    if (physical.float16_is_extension) extensions.push_back(VK_KHR_SHADER_FLOAT16_INT8_EXTENSION_NAME);
  }

  VkDeviceCreateInfo info{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
  info.pNext = &storage;
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queue;
  info.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
  info.ppEnabledExtensionNames = extensions.data();
  VkDevice device = VK_NULL_HANDLE;
  HEARTH_TRY(ToStatus(physical.instance->api.CreateDevice(physical.handle, &info, nullptr, &device), "vkCreateDevice"));
  return device;
}

}  // namespace

Result<std::unique_ptr<LogicalDevice>> LogicalDevice::Open(PhysicalDevice physical) {
  HEARTH_ASSIGN(VkDevice handle, CreateDevice(physical));
  std::unique_ptr<LogicalDevice> device(new LogicalDevice(std::move(physical), handle));
  const InstanceApi& instance_api = device->physical_.instance->api;
  device->destroy_ = reinterpret_cast<PFN_vkDestroyDevice>(instance_api.GetDeviceProcAddr(handle, "vkDestroyDevice"));
  HEARTH_ASSIGN(device->api_, LoadDeviceApi(instance_api, handle));
  device->api_.GetDeviceQueue(handle, device->physical_.queue_family, 0, &device->queue_);
  return device;
}

LogicalDevice::~LogicalDevice() {
  if (api_.DeviceWaitIdle != nullptr) api_.DeviceWaitIdle(handle_);
  if (destroy_ != nullptr) destroy_(handle_, nullptr);
}

Status LogicalDevice::SubmitAndWait(VkCommandBuffer commands, VkFence fence) {
  HEARTH_TRY(ToStatus(api_.ResetFences(handle_, 1, &fence), "vkResetFences"));
  VkSubmitInfo submit{VK_STRUCTURE_TYPE_SUBMIT_INFO};
  submit.commandBufferCount = 1;
  submit.pCommandBuffers = &commands;
  {
    const std::lock_guard lock(queue_mutex_);
    HEARTH_TRY(ToStatus(api_.QueueSubmit(queue_, 1, &submit, fence), "vkQueueSubmit"));
  }
  return ToStatus(api_.WaitForFences(handle_, 1, &fence, VK_TRUE, UINT64_MAX), "vkWaitForFences");
}

}  // namespace hearth::vulkan
