#include "backends/vulkan/logical_device.h"

#include <algorithm>
#include <span>
#include <vector>

#include "core/base/error.h"

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

  extensions.insert(extensions.end(), physical.external_memory.begin(), physical.external_memory.end());
  VkPhysicalDeviceVulkanMemoryModelFeatures model{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES};
  VkPhysicalDeviceCooperativeMatrixFeaturesKHR matrices{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR, &model, VK_TRUE, VK_FALSE};
  model.vulkanMemoryModel = VK_TRUE;
  if (physical.info.matrix_shape[0] != 0) {
    extensions.push_back(VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME);
    arithmetic.pNext = &matrices;
  }

  if (physical.portability_subset) extensions.push_back(kPortabilitySubset);

  VkPhysicalDeviceFeatures features{};
  features.shaderInt64 = physical.info.int64 ? VK_TRUE : VK_FALSE;

  VkDeviceCreateInfo info{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
  info.pNext = &storage;
  info.pEnabledFeatures = &features;
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queue;
  info.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
  info.ppEnabledExtensionNames = extensions.data();
  VkDevice device = VK_NULL_HANDLE;
  HEARTH_TRY(ToStatus(physical.instance->api.CreateDevice(physical.handle, &info, nullptr, &device), "vkCreateDevice"));
  return device;
}

// SyncPoints in the form of vkQueueSubmit, which ignores the value of a binary semaphore.
struct SemaphoreList {
  explicit SemaphoreList(std::span<const SyncPoint> points) {
    for (const SyncPoint& point : points) {
      semaphores.push_back(reinterpret_cast<VkSemaphore>(point.handle));
      values.push_back(point.value);
      has_timeline = has_timeline || point.value != 0;
    }
  }
  std::vector<VkSemaphore> semaphores;
  std::vector<uint64_t> values;
  bool has_timeline = false;
};

}  // namespace

Result<std::unique_ptr<LogicalDevice>> LogicalDevice::Open(PhysicalDevice physical) {
  HEARTH_ASSIGN(VkDevice handle, CreateDevice(physical));
  std::unique_ptr<LogicalDevice> device(new LogicalDevice(std::move(physical), handle));
  const InstanceApi& instance_api = device->physical_.instance->api;
  device->destroy_ = reinterpret_cast<PFN_vkDestroyDevice>(instance_api.GetDeviceProcAddr(handle, "vkDestroyDevice"));
  HEARTH_ASSIGN(device->api_, LoadDeviceApi(instance_api, handle));
  device->destroy_ = device->api_.DestroyDevice;
  device->api_.GetDeviceQueue(handle, device->physical_.queue_family, 0, &device->queue_);
  return device;
}

Result<std::unique_ptr<LogicalDevice>> LogicalDevice::Share(std::unique_ptr<Instance> instance, PhysicalDevice physical,
                                                            const VulkanContext& context) {
  physical.queue_family = context.queue_family;
  physical.info.int64 = false;  // the caller may not have enabled the feature
  physical.has_foreign_queues = false;
  std::unique_ptr<LogicalDevice> device(new LogicalDevice(std::move(physical), static_cast<VkDevice>(context.device)));
  HEARTH_ASSIGN(device->api_, LoadDeviceApi(instance->api, device->handle_));
  device->shared_instance_ = std::move(instance);
  device->queue_ = static_cast<VkQueue>(context.queue);
  return device;
}

LogicalDevice::~LogicalDevice() {
  if (wait_limit_.has_hung()) {
    KeepForever(handle_);
    return;
  }
  if (is_shared()) {  // the caller's own work continues
    (void)Wait(submission_count_);
  } else if (api_.DeviceWaitIdle != nullptr) {
    api_.DeviceWaitIdle(handle_);
  }
  pending_.clear();
  free_fences_.clear();
  if (destroy_ != nullptr) destroy_(handle_, nullptr);
}

Result<Owned<VkFence>> LogicalDevice::TakeFence() {
  if (free_fences_.empty()) {
    const VkFenceCreateInfo info{VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    return Make(api_.CreateFence, api_.DestroyFence, info, "vkCreateFence");
  }
  Owned<VkFence> fence = std::move(free_fences_.back());
  free_fences_.pop_back();
  const VkFence handle = fence.get();
  HEARTH_TRY(ToStatus(api_.ResetFences(handle_, 1, &handle), "vkResetFences"));
  return fence;
}

Result<uint64_t> LogicalDevice::Submit(VkCommandBuffer commands, const SubmitSync& sync) {
  if (sync.fence != nullptr)
    return Error(StatusCode::kUnsupported, "Vulkan has no fences for the caller; give a semaphore to signal");
  SemaphoreList waits(sync.wait_for), signals(sync.signal);
  const std::vector<VkPipelineStageFlags> stages(sync.wait_for.size(), VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
  VkTimelineSemaphoreSubmitInfo timeline{VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO};
  timeline.waitSemaphoreValueCount = static_cast<uint32_t>(waits.values.size());
  timeline.pWaitSemaphoreValues = waits.values.data();
  timeline.signalSemaphoreValueCount = static_cast<uint32_t>(signals.values.size());
  timeline.pSignalSemaphoreValues = signals.values.data();
  VkSubmitInfo submit{VK_STRUCTURE_TYPE_SUBMIT_INFO};
  if (waits.has_timeline || signals.has_timeline) submit.pNext = &timeline;
  submit.waitSemaphoreCount = static_cast<uint32_t>(waits.semaphores.size());
  submit.pWaitSemaphores = waits.semaphores.data();
  submit.pWaitDstStageMask = stages.data();
  submit.commandBufferCount = 1;
  submit.pCommandBuffers = &commands;
  submit.signalSemaphoreCount = static_cast<uint32_t>(signals.semaphores.size());
  submit.pSignalSemaphores = signals.semaphores.data();

  const std::lock_guard lock(queue_mutex_);
  HEARTH_TRY(wait_limit_.Check());
  HEARTH_ASSIGN(Owned<VkFence> fence, TakeFence());
  HEARTH_TRY(ToStatus(api_.QueueSubmit(queue_, 1, &submit, fence.get()), "vkQueueSubmit"));
  ++submissions_;
  pending_.push_back({++submission_count_, std::move(fence), 0});
  return submission_count_;
}

Status LogicalDevice::Wait(uint64_t submission) {
  std::unique_lock lock(queue_mutex_);
  if (submission > submission_count_)
    return Error(StatusCode::kInvalidArgument, "there is no submission {}; the last is {}", submission,
                 submission_count_);
  // A fence also covers all earlier submissions, so the fence of this submission or of a later one serves. Without one,
  // somebody has waited for it already.
  const auto found = std::find_if(pending_.begin(), pending_.end(),
                                  [&](const Pending& pending) { return pending.number >= submission; });
  if (found == pending_.end()) return Status::Ok();
  HEARTH_TRY(wait_limit_.Check());
  const uint64_t number = found->number;
  const VkFence fence = found->fence.get();
  ++found->waiters;  // prevents reuse of the fence meanwhile
  lock.unlock();
  const uint64_t limit_ns = wait_limit_.is_set() ? static_cast<uint64_t>(wait_limit_.limit().count()) : UINT64_MAX;
  ++waits_;
  const VkResult result = api_.WaitForFences(handle_, 1, &fence, VK_TRUE, limit_ns);
  lock.lock();
  for (Pending& pending : pending_) {
    if (pending.number == number) --pending.waiters;
  }
  if (result == VK_TIMEOUT) return wait_limit_.Over();
  HEARTH_TRY(ToStatus(result, "vkWaitForFences"));
  Recycle(number);
  return Status::Ok();
}

void LogicalDevice::Recycle(uint64_t finished) {
  while (!pending_.empty() && pending_.front().number <= finished && pending_.front().waiters == 0) {
    free_fences_.push_back(std::move(pending_.front().fence));
    pending_.pop_front();
  }
}

}  // namespace hearth::vulkan
