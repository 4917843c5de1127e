#include "backends/vulkan/device.h"

#include "backends/vulkan/buffer.h"
#include "backends/vulkan/executable.h"
#include "backends/vulkan/program.h"
#include "core/base/error.h"

namespace hearth::vulkan {

Result<std::unique_ptr<Device>> VulkanDevice::Open(PhysicalDevice physical) {
  HEARTH_ASSIGN(auto logical, LogicalDevice::Open(std::move(physical)));
  return std::unique_ptr<Device>(new VulkanDevice(std::move(logical)));
}

Result<std::unique_ptr<Device>> VulkanDevice::Share(const VulkanContext& context) {
  if (context.instance == nullptr || context.physical_device == nullptr || context.device == nullptr ||
      context.queue == nullptr) {
    return Error(StatusCode::kInvalidArgument,
                 "a shared Vulkan device needs its instance, physical device, device and queue; one of them is null");
  }
  HEARTH_ASSIGN(auto instance, ForeignInstance(static_cast<VkInstance>(context.instance)));
  PhysicalDevice physical = Describe(*instance, static_cast<VkPhysicalDevice>(context.physical_device));
  if (!physical.unusable_reason.empty()) return Status(StatusCode::kInvalidArgument, physical.unusable_reason);
  HEARTH_TRY(CheckQueueFamily(*instance, physical.handle, context.queue_family));
  physical.info.fp16_arithmetic = false;  // the features that the caller enabled are unknown
  physical.info.matrix_shape = {0, 0, 0};
  physical.timestamp_bits = 0;  // the value read is that of the queue family that Hearth would choose
  HEARTH_ASSIGN(auto logical, LogicalDevice::Share(std::move(instance), std::move(physical), context));
  return std::unique_ptr<Device>(new VulkanDevice(std::move(logical)));
}

Result<std::unique_ptr<Buffer>> VulkanDevice::DoImportBuffer(const NativeMemory& memory) {
  if (IsExternal(memory.kind)) {
    HEARTH_ASSIGN(auto external, VulkanBuffer::ImportExternal(*logical_, memory));
    return std::unique_ptr<Buffer>(std::move(external));
  }
  const bool is_image = memory.kind == MemoryKind::kVulkanImage;
  if (memory.kind != MemoryKind::kVulkanBuffer && !is_image)
    return Error(StatusCode::kUnsupported, "Vulkan imports only VkBuffers, VkImages, dma-bufs and AHardwareBuffers");
  if (!logical_->is_shared()) {
    return Error(StatusCode::kInvalidArgument,
                 "a {} belongs to its VkDevice: open the session with that device (SessionOptions::shared)",
                 is_image ? "VkImage" : "VkBuffer");
  }
  if (is_image) {
    HEARTH_ASSIGN(auto image, VulkanBuffer::ImportImage(*logical_, memory));
    return std::unique_ptr<Buffer>(std::move(image));
  }
  HEARTH_ASSIGN(auto buffer,
                VulkanBuffer::Import(*logical_, reinterpret_cast<VkBuffer>(memory.handle), memory.size_bytes));
  return std::unique_ptr<Buffer>(std::move(buffer));
}

Result<std::unique_ptr<Buffer>> VulkanDevice::DoCreateBuffer(uint64_t size_bytes) {
  HEARTH_ASSIGN(auto buffer, VulkanBuffer::Create(*logical_, size_bytes, MemoryUse::kKernels));
  return std::unique_ptr<Buffer>(std::move(buffer));
}

Result<std::unique_ptr<Buffer>> VulkanDevice::DoCreateStaging(uint64_t size_bytes) {
  if (info().unified_memory)
    return Error(StatusCode::kUnsupported, "{} shares the host's memory: nothing is staged", info().name);
  HEARTH_ASSIGN(auto buffer, VulkanBuffer::Create(*logical_, size_bytes, MemoryUse::kStaging));
  return std::unique_ptr<Buffer>(std::move(buffer));
}

Status VulkanDevice::DoWrite(Buffer& buffer, uint64_t offset_bytes, uint64_t size_bytes,
                             const std::function<Status(std::span<std::byte>)>& fill) {
  const auto& target = static_cast<const VulkanBuffer&>(buffer);
  if (target.mapped() != nullptr) {
    // Invalidates first what a kernel wrote beside it, because the flush writes whole atoms back.
    HEARTH_TRY(target.Invalidate(offset_bytes, size_bytes));
    HEARTH_TRY(fill({target.mapped() + offset_bytes, size_bytes}));
    return target.Flush(offset_bytes, size_bytes);
  }
  HEARTH_ASSIGN(const auto staging, VulkanBuffer::Create(*logical_, size_bytes, MemoryUse::kStaging));
  HEARTH_TRY(fill({staging->mapped(), size_bytes}));
  HEARTH_TRY(staging->Flush(0, size_bytes));
  return CopyBytes(*logical_, *staging, 0, target, offset_bytes, size_bytes);
}

Status VulkanDevice::DoRead(const Buffer& buffer, uint64_t offset_bytes, uint64_t size_bytes,
                            const std::function<Status(std::span<const std::byte>)>& view) {
  const auto& origin = static_cast<const VulkanBuffer&>(buffer);
  if (origin.mapped() != nullptr) {
    HEARTH_TRY(origin.Invalidate(offset_bytes, size_bytes));
    return view({origin.mapped() + offset_bytes, size_bytes});
  }
  HEARTH_ASSIGN(const auto staging, VulkanBuffer::Create(*logical_, size_bytes, MemoryUse::kStaging));
  HEARTH_TRY(CopyBytes(*logical_, origin, offset_bytes, *staging, 0, size_bytes));
  HEARTH_TRY(staging->Invalidate(0, size_bytes));
  return view({staging->mapped(), size_bytes});
}

Result<std::unique_ptr<ProgramGroup>> VulkanDevice::DoCompile(std::span<const KernelSource> sources) {
  return VulkanProgramGroup::Compile(*logical_, sources);
}

Result<std::unique_ptr<ProgramGroup>> VulkanDevice::DoLoad(std::span<const KernelSource> sources,
                                                           std::span<const std::byte> binary) {
  return VulkanProgramGroup::Load(*logical_, sources, binary);
}

Result<std::unique_ptr<ProgramGroup>> VulkanDevice::DoLoadParts(std::span<const KernelSource> sources,
                                                                std::span<const std::byte> portable,
                                                                std::span<const std::byte> driver_part) {
  return VulkanProgramGroup::LoadParts(*logical_, sources, portable, driver_part);
}

Result<std::unique_ptr<Executable>> VulkanDevice::DoPrepare(const CommandList& commands) {
  return VulkanExecutable::Create(*logical_, commands);
}

}  // namespace hearth::vulkan
