#include "backends/vulkan/recorded_commands.h"

#include "core/error.h"

namespace hearth::vulkan {
namespace {

constexpr VkPipelineStageFlags kWork = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
constexpr VkAccessFlags kWrites = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
constexpr VkAccessFlags kReads = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_TRANSFER_READ_BIT;

void RecordBarrier(const DeviceApi& api, VkCommandBuffer commands, VkPipelineStageFlags from, VkAccessFlags made,
                   VkPipelineStageFlags to, VkAccessFlags used) {
  VkMemoryBarrier barrier{VK_STRUCTURE_TYPE_MEMORY_BARRIER};
  barrier.srcAccessMask = made;
  barrier.dstAccessMask = used;
  api.CmdPipelineBarrier(commands, from, to, 0, 1, &barrier, 0, nullptr, 0, nullptr);
}

}  // namespace

void RecordKernelBarrier(const DeviceApi& api, VkCommandBuffer commands) {
  RecordBarrier(api, commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_WRITE_BIT,
                VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
}

Result<RecordedCommands> RecordedCommands::Record(LogicalDevice& device,
                                                  const std::function<void(VkCommandBuffer)>& record) {
  const DeviceApi& api = device.api();
  RecordedCommands recorded(device);
  VkCommandPoolCreateInfo pool{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  pool.queueFamilyIndex = device.physical().queue_family;
  HEARTH_ASSIGN(recorded.pool_,
                device.Make(api.CreateCommandPool, api.DestroyCommandPool, pool, "vkCreateCommandPool"));
  const VkFenceCreateInfo fence{VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
  HEARTH_ASSIGN(recorded.fence_, device.Make(api.CreateFence, api.DestroyFence, fence, "vkCreateFence"));

  VkCommandBufferAllocateInfo allocate{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
  allocate.commandPool = recorded.pool_.get();
  allocate.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  allocate.commandBufferCount = 1;
  HEARTH_TRY(ToStatus(api.AllocateCommandBuffers(device.handle(), &allocate, &recorded.commands_),
                      "vkAllocateCommandBuffers"));
  const VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  HEARTH_TRY(ToStatus(api.BeginCommandBuffer(recorded.commands_, &begin), "vkBeginCommandBuffer"));
  RecordBarrier(api, recorded.commands_, kWork, kWrites, kWork, kReads | kWrites);
  record(recorded.commands_);
  RecordBarrier(api, recorded.commands_, kWork, kWrites, VK_PIPELINE_STAGE_HOST_BIT,
                VK_ACCESS_HOST_READ_BIT | VK_ACCESS_HOST_WRITE_BIT);
  HEARTH_TRY(ToStatus(api.EndCommandBuffer(recorded.commands_), "vkEndCommandBuffer"));
  return recorded;
}

}  // namespace hearth::vulkan
