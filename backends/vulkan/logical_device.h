// An opened VkDevice with its one queue: what buffers, programs and executables are made on.
#ifndef HEARTH_BACKENDS_VULKAN_LOGICAL_DEVICE_H_
#define HEARTH_BACKENDS_VULKAN_LOGICAL_DEVICE_H_

#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

#include "backends/vulkan/handle.h"
#include "backends/vulkan/physical_device.h"

namespace hearth::vulkan {

// Thread-safe: the queue has a lock, and Vulkan lets any thread make objects.
class LogicalDevice {
 public:
  static Result<std::unique_ptr<LogicalDevice>> Open(PhysicalDevice physical);
  ~LogicalDevice();
  LogicalDevice(const LogicalDevice&) = delete;
  LogicalDevice& operator=(const LogicalDevice&) = delete;

  const PhysicalDevice& physical() const { return physical_; }
  const DeviceInfo& info() const { return physical_.info; }
  const DeviceApi& api() const { return api_; }
  VkDevice handle() const { return handle_; }

  // Make(api().CreateFence, api().DestroyFence, info, "vkCreateFence")
  template <typename Handle, typename CreateInfo>
  Result<Owned<Handle>> Make(VkResult(VKAPI_PTR* create)(VkDevice, const CreateInfo*, const VkAllocationCallbacks*,
                                                         Handle*),
                             void(VKAPI_PTR* destroy)(VkDevice, Handle, const VkAllocationCallbacks*),
                             const CreateInfo& info, std::string_view call) const {
    Handle made = VK_NULL_HANDLE;
    const VkResult result = create(handle_, &info, nullptr, &made);
    if (result != VK_SUCCESS) return ToStatus(result, call);
    return Owned<Handle>(handle_, made, destroy);
  }

  // Runs a recorded command buffer and waits for its end; `fence` is the caller's own.
  Status SubmitAndWait(VkCommandBuffer commands, VkFence fence);

 private:
  LogicalDevice(PhysicalDevice physical, VkDevice handle) : physical_(std::move(physical)), handle_(handle) {}

  PhysicalDevice physical_;
  VkDevice handle_;
  PFN_vkDestroyDevice destroy_ = nullptr;
  DeviceApi api_;
  VkQueue queue_ = VK_NULL_HANDLE;
  std::mutex queue_mutex_;  // vkQueueSubmit is not thread-safe by itself
};

}  // namespace hearth::vulkan

#endif  // HEARTH_BACKENDS_VULKAN_LOGICAL_DEVICE_H_
