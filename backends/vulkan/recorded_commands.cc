#include "backends/vulkan/recorded_commands.h"

#include "core/base/error.h"

namespace hearth::vulkan {
namespace {

constexpr VkPipelineStageFlags kWork = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
constexpr VkAccessFlags kWrites = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
constexpr VkAccessFlags kReads = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_TRANSFER_READ_BIT;

// For a device that the program works with too: orders the commands with all earlier and later ones.
constexpr VkPipelineStageFlags kAnyWork = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
constexpr VkAccessFlags kAnyWrite = VK_ACCESS_MEMORY_WRITE_BIT;
constexpr VkAccessFlags kAnyAccess = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;

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

void RecordWorkBarrier(const DeviceApi& api, VkCommandBuffer commands) {
  RecordBarrier(api, commands, kWork, kWrites, kWork, kReads | kWrites);
}

Result<RecordedCommands> RecordedCommands::Record(LogicalDevice& device,
                                                  const std::function<void(VkCommandBuffer)>& record) {
  const DeviceApi& api = device.api();
  RecordedCommands recorded(device);
  VkCommandPoolCreateInfo pool{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  pool.queueFamilyIndex = device.physical().queue_family;
  HEARTH_ASSIGN(recorded.pool_,
                device.Make(api.CreateCommandPool, api.DestroyCommandPool, pool, "vkCreateCommandPool"));

  VkCommandBufferAllocateInfo allocate{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
  allocate.commandPool = recorded.pool_.get();
  allocate.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  allocate.commandBufferCount = 1;
  HEARTH_TRY(ToStatus(api.AllocateCommandBuffers(device.handle(), &allocate, &recorded.commands_),
                      "vkAllocateCommandBuffers"));
  VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  begin.flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT;
  HEARTH_TRY(ToStatus(api.BeginCommandBuffer(recorded.commands_, &begin), "vkBeginCommandBuffer"));
  const bool is_shared = device.is_shared();
  RecordBarrier(api, recorded.commands_, is_shared ? kAnyWork : kWork, is_shared ? kAnyWrite : kWrites, kWork,
                kReads | kWrites);
  record(recorded.commands_);
  RecordBarrier(api, recorded.commands_, kWork, kWrites,
                VK_PIPELINE_STAGE_HOST_BIT | (is_shared ? kAnyWork : VkPipelineStageFlags{0}),
                VK_ACCESS_HOST_READ_BIT | VK_ACCESS_HOST_WRITE_BIT | (is_shared ? kAnyAccess : VkAccessFlags{0}));
  HEARTH_TRY(ToStatus(api.EndCommandBuffer(recorded.commands_), "vkEndCommandBuffer"));
  return recorded;
}

RecordedCommands::~RecordedCommands() {
  // A moved-from object has no pool. A failure is reported to the caller that waits for the results.
  if (pool_.get() != VK_NULL_HANDLE && last_submission_ != 0) (void)device_->Wait(last_submission_);
}

Result<uint64_t> RecordedCommands::Submit(const SubmitSync& sync) {
  HEARTH_ASSIGN(last_submission_, device_->Submit(commands_, sync));
  return last_submission_;
}

Status RecordedCommands::SubmitAndWait() {
  HEARTH_ASSIGN(const uint64_t submission, Submit());
  return device_->Wait(submission);
}

}  // namespace hearth::vulkan
