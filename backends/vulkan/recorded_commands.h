// A command buffer recorded once and submitted any number of times.
#ifndef HEARTH_BACKENDS_VULKAN_RECORDED_COMMANDS_H_
#define HEARTH_BACKENDS_VULKAN_RECORDED_COMMANDS_H_

#include <functional>

#include "backends/vulkan/logical_device.h"

namespace hearth::vulkan {

// Used by one thread at a time; may be submitted again before it is finished. Every recording starts with a barrier
// against earlier submissions and ends with one that makes its writes visible to the host and to later copies and
// kernels.
class RecordedCommands {
 public:
  static Result<RecordedCommands> Record(LogicalDevice& device, const std::function<void(VkCommandBuffer)>& record);

  RecordedCommands(RecordedCommands&&) noexcept = default;
  RecordedCommands& operator=(RecordedCommands&&) noexcept = default;
  ~RecordedCommands();  // waits for its submissions

  // See Executable.
  Result<uint64_t> Submit(const SubmitSync& sync = {});
  Status SubmitAndWait();

 private:
  explicit RecordedCommands(LogicalDevice& device) : device_(&device) {}

  LogicalDevice* device_;
  Owned<VkCommandPool> pool_;  // its own: pools are not thread-safe
  VkCommandBuffer commands_ = VK_NULL_HANDLE;
  uint64_t last_submission_ = 0;
};

// Makes kernels' writes visible to later kernels, in storage and texel buffers, and keeps later kernels from
// overwriting what earlier ones still read.
void RecordKernelBarrier(const DeviceApi& api, VkCommandBuffer commands);
// The same for kernels and copies.
void RecordWorkBarrier(const DeviceApi& api, VkCommandBuffer commands);

}  // namespace hearth::vulkan

#endif  // HEARTH_BACKENDS_VULKAN_RECORDED_COMMANDS_H_
