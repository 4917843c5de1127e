// A command list as one recorded command buffer.
#ifndef HEARTH_BACKENDS_VULKAN_EXECUTABLE_H_
#define HEARTH_BACKENDS_VULKAN_EXECUTABLE_H_

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "backends/vulkan/logical_device.h"
#include "backends/vulkan/recorded_commands.h"
#include "hal/device/device.h"

namespace hearth::vulkan {

class VulkanBuffer;

class VulkanExecutable : public Executable {
 public:
  // `commands` was checked by Device::Prepare. kUnsupported for a texel read of more elements than the device allows.
  static Result<std::unique_ptr<Executable>> Create(LogicalDevice& device, const CommandList& commands);

  Result<uint64_t> Submit(const SubmitSync& sync) override;
  Status Wait(uint64_t submission) override { return device_->Wait(submission); }
  Result<std::vector<double>> RunProfiled() override;

 private:
  struct PreparedCopy {
    VkBuffer from = VK_NULL_HANDLE, to = VK_NULL_HANDLE;
    VkBufferCopy region{};
  };
  struct PreparedDispatch {
    std::vector<PreparedCopy> copies;       // recorded before the dispatch
    std::vector<const VulkanBuffer*> lent;  // memory that the dispatch reads and others use in turns
    VkPipeline pipeline = VK_NULL_HANDLE;
    VkPipelineLayout layout = VK_NULL_HANDLE;
    VkDescriptorSet set = VK_NULL_HANDLE;
    std::vector<uint32_t> scalars;
    std::array<uint32_t, 3> group_count{};
    bool after_barrier = false;
  };

  explicit VulkanExecutable(LogicalDevice& device) : device_(&device) {}
  Status MakeDescriptorPool(const CommandList& commands);
  void AddCopy(const CopyCommand& copy);
  Status AddDispatch(const DispatchCommand& dispatch, bool after_barrier);
  Result<VkDescriptorSet> MakeDescriptorSet(const DispatchCommand& dispatch);
  void RecordAll(VkCommandBuffer commands) const;
  void RecordCopies(VkCommandBuffer commands, const std::vector<PreparedCopy>& copies) const;
  void RecordDispatch(VkCommandBuffer commands, const PreparedDispatch& dispatch) const;
  Status RecordTimed();
  Result<std::vector<double>> RunTimed();    // measured by the queue's clock
  Result<std::vector<double>> RunWaiting();  // one submission per dispatch, measured by the host's clock

  LogicalDevice* device_;
  Owned<VkDescriptorPool> descriptor_pool_;
  std::vector<PreparedDispatch> dispatches_;
  std::vector<PreparedCopy> copies_;  // after the last dispatch
  std::optional<RecordedCommands> commands_;
  Owned<VkQueryPool> timestamps_;  // made by the first profiled run
  std::optional<RecordedCommands> timed_commands_;
};

}  // namespace hearth::vulkan

#endif  // HEARTH_BACKENDS_VULKAN_EXECUTABLE_H_
