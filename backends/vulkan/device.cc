#include "backends/vulkan/device.h"

#include "backends/vulkan/buffer.h"
#include "backends/vulkan/executable.h"
#include "backends/vulkan/program.h"
#include "core/error.h"

namespace hearth::vulkan {

Result<std::unique_ptr<Device>> VulkanDevice::Open(PhysicalDevice physical) {
  HEARTH_ASSIGN(auto logical, LogicalDevice::Open(std::move(physical)));
  return std::unique_ptr<Device>(new VulkanDevice(std::move(logical)));
}

Result<std::unique_ptr<Buffer>> VulkanDevice::DoCreateBuffer(uint64_t size_bytes) {
  HEARTH_ASSIGN(auto buffer, VulkanBuffer::Create(*logical_, size_bytes, MemoryUse::kKernels));
  return std::unique_ptr<Buffer>(std::move(buffer));
}

Status VulkanDevice::DoWrite(Buffer& buffer, uint64_t offset_bytes, uint64_t size_bytes,
                             const std::function<Status(std::span<std::byte>)>& fill) {
  const auto& target = static_cast<const VulkanBuffer&>(buffer);
  if (target.mapped() != nullptr) return fill({target.mapped() + offset_bytes, size_bytes});
  HEARTH_ASSIGN(const auto staging, VulkanBuffer::Create(*logical_, size_bytes, MemoryUse::kStaging));
  HEARTH_TRY(fill({staging->mapped(), size_bytes}));
  return CopyBytes(*logical_, *staging, 0, target, offset_bytes, size_bytes);
}

Status VulkanDevice::DoRead(const Buffer& buffer, uint64_t offset_bytes, uint64_t size_bytes,
                            const std::function<Status(std::span<const std::byte>)>& view) {
  const auto& origin = static_cast<const VulkanBuffer&>(buffer);
  if (origin.mapped() != nullptr) return view({origin.mapped() + offset_bytes, size_bytes});
  HEARTH_ASSIGN(const auto staging, VulkanBuffer::Create(*logical_, size_bytes, MemoryUse::kStaging));
  HEARTH_TRY(CopyBytes(*logical_, origin, offset_bytes, *staging, 0, size_bytes));
  return view({staging->mapped(), size_bytes});
}

Result<std::unique_ptr<ProgramGroup>> VulkanDevice::DoCompile(std::span<const KernelSource> sources) {
  return VulkanProgramGroup::Compile(*logical_, sources);
}

Result<std::unique_ptr<ProgramGroup>> VulkanDevice::DoLoad(std::span<const KernelSource> sources,
                                                           std::span<const std::byte> binary) {
  return VulkanProgramGroup::Load(*logical_, sources, binary);
}

Result<std::unique_ptr<Executable>> VulkanDevice::DoPrepare(const CommandList& commands) {
  return VulkanExecutable::Create(*logical_, commands);
}

}  // namespace hearth::vulkan
