#include "backends/vulkan/executable.h"

#include <algorithm>
#include <utility>

#include "backends/vulkan/buffer.h"
#include "backends/vulkan/program.h"
#include "core/base/error.h"
#include "core/plan/storage.h"
#include "hal/device/stopwatch.h"

namespace hearth::vulkan {
namespace {

const VulkanProgram& ProgramOf(const DispatchCommand& dispatch) {
  return static_cast<const VulkanProgram&>(*dispatch.program);
}

Result<VkBufferView> MakeTexelView(const BoundRange& range, VkFormat format, const DeviceInfo& info) {
  const uint64_t texel_bytes = TexelBytes(format);
  const uint64_t elements = range.size_bytes / texel_bytes;
  if (elements == 0 || range.size_bytes % texel_bytes != 0) {
    return Error(StatusCode::kInvalidArgument, "{} bytes are not a whole number of texels of {} bytes",
                 range.size_bytes, texel_bytes);
  }
  if (elements > info.max_texel_elements) {
    return Error(StatusCode::kUnsupported, "{} texels are read through a texel buffer; {} supports {}", elements,
                 info.name, info.max_texel_elements);
  }
  const uint64_t view_bytes = TexelViewBytes(range.offset_bytes, range.size_bytes, range.buffer->size_bytes(),
                                             texel_bytes, info.max_texel_elements);
  return static_cast<VulkanBuffer*>(range.buffer)->TexelView(range.offset_bytes, view_bytes, format);
}

}  // namespace

Result<std::unique_ptr<Executable>> VulkanExecutable::Create(LogicalDevice& device, const CommandList& commands) {
  std::unique_ptr<VulkanExecutable> executable(new VulkanExecutable(device));
  HEARTH_TRY(executable->MakeDescriptorPool(commands));
  bool after_barrier = false;
  for (const Command& command : commands.commands) {
    if (const auto* dispatch = std::get_if<DispatchCommand>(&command)) {
      const Status added = executable->AddDispatch(*dispatch, after_barrier);
      if (!added.ok()) return added.Within("dispatch '" + dispatch->label + "'");
      after_barrier = false;
    } else if (const auto* copy = std::get_if<CopyCommand>(&command)) {
      executable->AddCopy(*copy);
    } else {
      after_barrier = true;
    }
  }
  HEARTH_ASSIGN(executable->commands_,
                RecordedCommands::Record(device, [&](VkCommandBuffer buffer) { executable->RecordAll(buffer); }));
  return std::unique_ptr<Executable>(std::move(executable));
}

Status VulkanExecutable::MakeDescriptorPool(const CommandList& commands) {
  uint32_t sets = 0, storage_buffers = 0, texel_buffers = 0;
  for (const Command& command : commands.commands) {
    const auto* dispatch = std::get_if<DispatchCommand>(&command);
    if (dispatch == nullptr) continue;
    ++sets;
    for (const TensorArg& arg : dispatch->program->source().tensors)
      ++(TexelFormat(arg) ? texel_buffers : storage_buffers);
  }
  std::vector<VkDescriptorPoolSize> sizes;
  if (storage_buffers > 0) sizes.push_back({VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, storage_buffers});
  if (texel_buffers > 0) sizes.push_back({VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER, texel_buffers});
  if (sizes.empty()) return Status::Ok();
  VkDescriptorPoolCreateInfo info{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
  info.maxSets = sets;
  info.poolSizeCount = static_cast<uint32_t>(sizes.size());
  info.pPoolSizes = sizes.data();
  const DeviceApi& api = device_->api();
  HEARTH_ASSIGN(descriptor_pool_,
                device_->Make(api.CreateDescriptorPool, api.DestroyDescriptorPool, info, "vkCreateDescriptorPool"));
  return Status::Ok();
}

Status VulkanExecutable::AddDispatch(const DispatchCommand& dispatch, bool after_barrier) {
  const VulkanProgram& program = ProgramOf(dispatch);
  PreparedDispatch prepared;
  prepared.pipeline = program.pipeline();
  prepared.layout = program.layout();
  prepared.scalars = dispatch.scalars;
  prepared.group_count = dispatch.group_count;
  prepared.after_barrier = after_barrier;
  prepared.copies = std::exchange(copies_, {});
  for (const BoundRange& range : dispatch.tensors) {
    const auto* buffer = static_cast<const VulkanBuffer*>(range.buffer);
    if (buffer->is_lent_in_turns()) prepared.lent.push_back(buffer);
  }
  if (!dispatch.tensors.empty()) {
    HEARTH_ASSIGN(prepared.set, MakeDescriptorSet(dispatch));
  }
  dispatches_.push_back(std::move(prepared));
  return Status::Ok();
}

Result<VkDescriptorSet> VulkanExecutable::MakeDescriptorSet(const DispatchCommand& dispatch) {
  const DeviceApi& api = device_->api();
  const VulkanProgram& program = ProgramOf(dispatch);
  const VkDescriptorSetLayout layout = program.set_layout();
  VkDescriptorSetAllocateInfo allocate{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
  allocate.descriptorPool = descriptor_pool_.get();
  allocate.descriptorSetCount = 1;
  allocate.pSetLayouts = &layout;
  VkDescriptorSet set = VK_NULL_HANDLE;
  HEARTH_TRY(ToStatus(api.AllocateDescriptorSets(device_->handle(), &allocate, &set), "vkAllocateDescriptorSets"));

  const size_t count = dispatch.tensors.size();
  std::vector<VkDescriptorBufferInfo> buffers(count);
  std::vector<VkBufferView> views(count);
  std::vector<VkWriteDescriptorSet> writes(count);
  for (size_t k = 0; k < count; ++k) {
    const TensorArg& arg = program.source().tensors[k];
    const BoundRange& range = dispatch.tensors[k];
    VkWriteDescriptorSet& write = writes[k];
    write.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET;
    write.dstSet = set;
    write.dstBinding = static_cast<uint32_t>(k);
    write.descriptorCount = 1;
    if (const auto format = TexelFormat(arg)) {
      auto view = MakeTexelView(range, *format, device_->info());
      if (!view.ok()) return view.status().Within("tensor " + arg.name);
      views[k] = *view;
      write.descriptorType = VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER;
      write.pTexelBufferView = &views[k];
    } else {
      buffers[k] = {static_cast<VulkanBuffer*>(range.buffer)->handle(), range.offset_bytes, range.size_bytes};
      write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
      write.pBufferInfo = &buffers[k];
    }
  }
  api.UpdateDescriptorSets(device_->handle(), static_cast<uint32_t>(count), writes.data(), 0, nullptr);
  return set;
}

void VulkanExecutable::AddCopy(const CopyCommand& copy) {
  const auto handle = [](const BoundRange& range) { return static_cast<VulkanBuffer*>(range.buffer)->handle(); };
  copies_.push_back(
      {handle(copy.from), handle(copy.to), {copy.from.offset_bytes, copy.to.offset_bytes, copy.from.size_bytes}});
}

void VulkanExecutable::RecordCopies(VkCommandBuffer commands, const std::vector<PreparedCopy>& copies) const {
  for (const PreparedCopy& copy : copies) device_->api().CmdCopyBuffer(commands, copy.from, copy.to, 1, &copy.region);
}

// Copies are between barriers of their own. The recording begins with one.
void VulkanExecutable::RecordAll(VkCommandBuffer commands) const {
  const DeviceApi& api = device_->api();
  for (const PreparedDispatch& dispatch : dispatches_) {
    if (!dispatch.copies.empty()) {
      if (&dispatch != &dispatches_.front()) RecordWorkBarrier(api, commands);
      RecordCopies(commands, dispatch.copies);
      RecordWorkBarrier(api, commands);
    } else if (dispatch.after_barrier) {
      RecordKernelBarrier(api, commands);
    }
    for (const VulkanBuffer* lent : dispatch.lent) lent->RecordBeforeRead(commands);
    RecordDispatch(commands, dispatch);
    for (const VulkanBuffer* lent : dispatch.lent) lent->RecordAfterRead(commands);
  }
  if (!copies_.empty() && !dispatches_.empty()) RecordWorkBarrier(api, commands);
  RecordCopies(commands, copies_);
}

void VulkanExecutable::RecordDispatch(VkCommandBuffer commands, const PreparedDispatch& dispatch) const {
  const DeviceApi& api = device_->api();
  api.CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, dispatch.pipeline);
  if (dispatch.set != VK_NULL_HANDLE) {
    api.CmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, dispatch.layout, 0, 1, &dispatch.set, 0,
                              nullptr);
  }
  if (!dispatch.scalars.empty()) {
    api.CmdPushConstants(commands, dispatch.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                         static_cast<uint32_t>(dispatch.scalars.size() * sizeof(uint32_t)), dispatch.scalars.data());
  }
  api.CmdDispatch(commands, dispatch.group_count[0], dispatch.group_count[1], dispatch.group_count[2]);
}

Result<uint64_t> VulkanExecutable::Submit(const SubmitSync& sync) {
  return commands_->Submit(sync);
}

Result<std::vector<double>> VulkanExecutable::RunProfiled() {
  const bool has_copies = !copies_.empty() || std::ranges::any_of(dispatches_, [](const PreparedDispatch& dispatch) {
    return !dispatch.copies.empty() || !dispatch.lent.empty();
  });
  if (has_copies) return Error(StatusCode::kUnsupported, "a list with copies is not profiled");
  if (dispatches_.empty()) return std::vector<double>{};
  return device_->physical().timestamp_bits > 0 ? RunTimed() : RunWaiting();
}

// Timestamp k is taken when everything before dispatch k has finished, the last one when everything has.
Status VulkanExecutable::RecordTimed() {
  const DeviceApi& api = device_->api();
  const auto count = static_cast<uint32_t>(dispatches_.size() + 1);
  VkQueryPoolCreateInfo info{VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
  info.queryType = VK_QUERY_TYPE_TIMESTAMP;
  info.queryCount = count;
  HEARTH_ASSIGN(timestamps_, device_->Make(api.CreateQueryPool, api.DestroyQueryPool, info, "vkCreateQueryPool"));
  const auto record = [&](VkCommandBuffer commands) {
    api.CmdResetQueryPool(commands, timestamps_.get(), 0, count);
    for (uint32_t k = 0; k < dispatches_.size(); ++k) {
      RecordKernelBarrier(api, commands);  // without it the times of independent dispatches overlap
      api.CmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, timestamps_.get(), k);
      RecordDispatch(commands, dispatches_[k]);
    }
    api.CmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, timestamps_.get(), count - 1);
  };
  HEARTH_ASSIGN(timed_commands_, RecordedCommands::Record(*device_, record));
  return Status::Ok();
}

Result<std::vector<double>> VulkanExecutable::RunTimed() {
  if (!timed_commands_) HEARTH_TRY(RecordTimed());
  HEARTH_TRY(timed_commands_->SubmitAndWait());
  const PhysicalDevice& physical = device_->physical();
  std::vector<uint64_t> ticks(dispatches_.size() + 1);
  HEARTH_TRY(ToStatus(
      device_->api().GetQueryPoolResults(device_->handle(), timestamps_.get(), 0, static_cast<uint32_t>(ticks.size()),
                                         ticks.size() * sizeof(uint64_t), ticks.data(), sizeof(uint64_t),
                                         VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
      "vkGetQueryPoolResults"));
  const uint64_t mask = physical.timestamp_bits >= 64 ? UINT64_MAX : (uint64_t{1} << physical.timestamp_bits) - 1;
  std::vector<double> milliseconds;
  for (size_t k = 0; k < dispatches_.size(); ++k) {
    const uint64_t passed = (ticks[k + 1] - ticks[k]) & mask;  // correct across one wrap of the clock
    milliseconds.push_back(static_cast<double>(passed) * physical.timestamp_period_ns * 1e-6);
  }
  return milliseconds;
}

Result<std::vector<double>> VulkanExecutable::RunWaiting() {
  std::vector<double> milliseconds;
  for (const PreparedDispatch& dispatch : dispatches_) {
    HEARTH_ASSIGN(auto commands, RecordedCommands::Record(
                                     *device_, [&](VkCommandBuffer buffer) { RecordDispatch(buffer, dispatch); }));
    const Stopwatch watch;
    HEARTH_TRY(commands.SubmitAndWait());
    milliseconds.push_back(watch.milliseconds());
  }
  return milliseconds;
}

}  // namespace hearth::vulkan
