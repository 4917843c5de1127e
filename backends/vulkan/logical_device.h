// An opened VkDevice with its one queue. Buffers, programs and executables are made on it.
#ifndef HEARTH_BACKENDS_VULKAN_LOGICAL_DEVICE_H_
#define HEARTH_BACKENDS_VULKAN_LOGICAL_DEVICE_H_

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/vulkan/handle.h"
#include "backends/vulkan/physical_device.h"
#include "hal/device/native.h"
#include "hal/device/wait_limit.h"

namespace hearth::vulkan {

// Thread-safe: the queue has a lock, and Vulkan allows any thread to make objects.
class LogicalDevice {
 public:
  static Result<std::unique_ptr<LogicalDevice>> Open(PhysicalDevice physical);
  // The caller's device and queue, which the caller destroys after this object. `instance` is the caller's too.
  static Result<std::unique_ptr<LogicalDevice>> Share(std::unique_ptr<Instance> instance, PhysicalDevice physical,
                                                      const VulkanContext& context);
  ~LogicalDevice();
  LogicalDevice(const LogicalDevice&) = delete;
  LogicalDevice& operator=(const LogicalDevice&) = delete;

  const PhysicalDevice& physical() const { return physical_; }
  const DeviceInfo& info() const { return physical_.info; }
  const DeviceApi& api() const { return api_; }
  VkDevice handle() const { return handle_; }
  bool is_shared() const { return shared_instance_ != nullptr; }
  // The owner of memory that another driver uses between the runs.
  uint32_t foreign_family() const {
    return physical_.has_foreign_queues ? VK_QUEUE_FAMILY_FOREIGN_EXT : VK_QUEUE_FAMILY_EXTERNAL;
  }

  // Make(api().CreateFence, api().DestroyFence, info, "vkCreateFence")
  template <typename Handle, typename CreateInfo>
  Result<Owned<Handle>> Make(VkResult(VKAPI_PTR* create)(VkDevice, const CreateInfo*, const VkAllocationCallbacks*,
                                                         Handle*),
                             void(VKAPI_PTR* destroy)(VkDevice, Handle, const VkAllocationCallbacks*),
                             const CreateInfo& info, std::string_view call) const {
    Handle made = VK_NULL_HANDLE;
    const VkResult result = create(handle_, &info, nullptr, &made);
    if (result != VK_SUCCESS) return ToStatus(result, call);
    return Owned<Handle>(handle_, made, destroy, wait_limit_);
  }

  struct Calls {
    uint64_t allocations = 0, submissions = 0, waits = 0;
  };
  Calls calls() const { return {allocations_, submissions_, waits_}; }
  void CountAllocation() { ++allocations_; }
  uint64_t spilled_bytes() const { return spilled_bytes_; }  // see Device
  void CountSpilled(uint64_t bytes) { spilled_bytes_ += bytes; }
  void UncountSpilled(uint64_t bytes) { spilled_bytes_ -= bytes; }

  WaitLimit& wait_limit() { return wait_limit_; }
  const WaitLimit& wait_limit() const { return wait_limit_; }

  // See Executable::Submit and Wait.
  Result<uint64_t> Submit(VkCommandBuffer commands, const SubmitSync& sync);
  Status Wait(uint64_t submission);

 private:
  LogicalDevice(PhysicalDevice physical, VkDevice handle) : physical_(std::move(physical)), handle_(handle) {}

  struct Pending {
    uint64_t number = 0;
    Owned<VkFence> fence;
    int waiters = 0;
  };
  Result<Owned<VkFence>> TakeFence();
  void Recycle(uint64_t finished);  // reuses the fences of finished submissions that nobody waits for

  std::unique_ptr<Instance> shared_instance_;  // on a shared device, the instance of physical_
  PhysicalDevice physical_;
  VkDevice handle_;
  PFN_vkDestroyDevice destroy_ = nullptr;
  DeviceApi api_;
  WaitLimit wait_limit_;
  std::atomic<uint64_t> allocations_ = 0, submissions_ = 0, waits_ = 0;
  std::atomic<uint64_t> spilled_bytes_ = 0;
  VkQueue queue_ = VK_NULL_HANDLE;
  std::mutex queue_mutex_;  // vkQueueSubmit is not thread-safe; also guards the members below
  uint64_t submission_count_ = 0;
  std::deque<Pending> pending_;
  std::vector<Owned<VkFence>> free_fences_;
};

}  // namespace hearth::vulkan

#endif  // HEARTH_BACKENDS_VULKAN_LOGICAL_DEVICE_H_
